// Payload, headers and result of a task, for those who may see them.
import type { Task } from "../../api/messages/task";
import { Foreign } from "../../parts/foreign";
import { Section } from "../../parts/page";
import { Payload } from "../../parts/payload";
import { Table } from "../../parts/table";

const COLUMNS = [{ name: "name", title: "Name" }, { name: "value", title: "Value" }];

export function Content({ of, isShown }: { of: Task; isShown: boolean }) {
  if (!isShown) {
    return (
      <Section title="Payload">
        <p class="none">You may not see payloads, headers and results of this queue: the rules of
          this broker give you no <code>read_payload</code> on it.</p>
      </Section>
    );
  }
  const headers = Object.entries(of.headers ?? {});
  return (
    <>
      <Section title="Payload">
        {of.contentType && <p class="none"><Foreign text={of.contentType} most={255} /></p>}
        <Payload base64={of.payload} name="payload" label="Payload"
          ifEmpty={of.endTime ? "Empty, or no longer kept" : "Empty"} />
      </Section>
      {headers.length > 0 && (
        <Section title="Headers">
          <Table label="Headers" columns={COLUMNS}>
            {headers.map(([name, value]) => (
              <tr key={name}>
                <th scope="row"><Foreign text={name} most={128} /></th>
                <td class="long"><Foreign text={value} most={500} /></td>
              </tr>
            ))}
          </Table>
        </Section>
      )}
      {of.result && (
        <Section title="Result">
          <Payload base64={of.result} name="result" label="Result" />
        </Section>
      )}
    </>
  );
}
