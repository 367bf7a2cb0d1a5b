// Who is logged in, what that one may do, and the way out.
import { useState } from "preact/hooks";
import { who } from "../api/access";
import { asRefusal, type Refusal } from "../api/refusal";
import { logOut } from "../api/log_in";
import { useStore } from "../api/store";
import { BASE } from "../app/router";
import { Failure } from "../parts/failure";
import { Foreign } from "../parts/foreign";
import { Facts, Page, Section } from "../parts/page";
import { Empty, Table } from "../parts/table";
import { word } from "../text/names";

const COLUMNS = [{ name: "verb", title: "May" }, { name: "queues", title: "On queues" }];
const VERBS: Record<string, string> = {
  VERB_READ: "see queues, tasks and reports",
  VERB_READ_PAYLOAD: "see payloads, headers and results",
  VERB_ENQUEUE: "enqueue tasks",
  VERB_LEASE: "lease and settle tasks",
  VERB_OPERATE: "change tasks: cancel, retry, reschedule, delete",
  VERB_ADMIN: "make, change, pause and resume queues",
};

export function Me() {
  const me = useStore(who)!;
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  const isAnonymous = me.principal === "anonymous";
  const hasLogIn = !isAnonymous && !me.principal.startsWith("certificate:");

  async function leave() {
    try {
      await logOut();
      location.assign(BASE); // nothing that was shown stays in memory
    } catch (error) {
      setRefusal(asRefusal(error));
    }
  }

  const grants = me.grants ?? [];
  return (
    <Page title="Who am I" actions={hasLogIn && (
      <button type="button" onClick={() => void leave()}>Log out</button>
    )}>
      <Failure of={refusal} />
      <Facts rows={[
        ["Principal", <Foreign text={me.principal} />],
        ["Groups of its credentials", me.groups?.length
          ? me.groups.map((group) => <><Foreign text={group} /> </>) : "none"],
      ]} />
      {isAnonymous && <p>This broker does not ask who calls.</p>}
      <Section title="Rights">
        <Table label="Rights" columns={COLUMNS}>
          {grants.map((grant) => (
            <tr key={grant.verb}>
              <th scope="row">
                <code>{word(grant.verb, "VERB_").replace(" ", "_")}</code> {VERBS[grant.verb]}
              </th>
              <td>
                {grant.queues?.map((queue) => <><code><Foreign text={queue} /></code> </>)}
              </td>
            </tr>
          ))}
          {grants.length === 0 && (
            <Empty columns={2}>No rule allows anything to this principal.</Empty>
          )}
        </Table>
      </Section>
    </Page>
  );
}
