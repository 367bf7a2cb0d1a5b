// An error group as a row, with what can be done about it.
import { useState } from "preact/hooks";
import { useMay } from "../../api/access";
import { change } from "../../api/call";
import type { OperationResponse } from "../../api/messages/bulk";
import type { ErrorGroup } from "../../api/messages/report";
import { navigate, to, toQueue, toTask } from "../../app/router";
import { Confirm } from "../../parts/confirm";
import { Foreign } from "../../parts/foreign";
import { Time } from "../../parts/time";
import { asText, fromBase64 } from "../../text/bytes";
import { count, number, plural } from "../../text/number";

const UNFINISHED = ["SCHEDULED", "READY", "LEASED"];

export function GroupRow({ of }: { of: ErrorGroup }) {
  const tasks = (states: string[]) => toQueue(of.queue, "tasks", {
    state: states, fingerprint: of.fingerprint, stage: of.stage,
  });
  return (
    <tr>
      <th scope="row" class="long">
        <strong><Foreign text={of.type || "(no type)"} /></strong>
        <div class="sample"><Foreign text={asText(fromBase64(of.text))} most={200} /></div>
      </th>
      <td>
        <a href={toQueue(of.queue)}><Foreign text={of.queue} /></a>
        {of.stage && <> · <Foreign text={of.stage} /></>}
      </td>
      <td class="number"><Count value={of.failedCount} address={tasks(["FAILED"])} /></td>
      <td class="number"><Count value={of.retryingCount} address={tasks(UNFINISHED)} /></td>
      <td><Time at={of.lastSeenTime} /></td>
      <td><Time at={of.firstSeenTime} /></td>
      <td class="samples">
        {(of.sampleTaskIds ?? []).map((id) => <><a href={toTask(id)}>{id}</a> </>)}
      </td>
      <td><RetryGroup of={of} /></td>
    </tr>
  );
}

function Count({ value, address }: { value: string | undefined; address: string }) {
  return number(value) > 0
    ? <a href={address}>{count(value)}</a>
    : <span class="none">0</span>;
}

function RetryGroup({ of }: { of: ErrorGroup }) {
  const [isAsking, setIsAsking] = useState(false);
  const may = useMay();
  if (!may("OPERATE", of.queue)) return <span class="none">read-only</span>;
  const tasks = number(of.failedCount) + number(of.retryingCount);

  async function retry() {
    const { operation } = await change<OperationResponse>("RetryErrorGroup", {
      queue: of.queue, stage: of.stage ?? "", fingerprint: of.fingerprint, wait: "0s",
    });
    navigate(to(["operations", operation.operationId]));
  }

  return (
    <>
      <button type="button" onClick={() => setIsAsking(true)}>Retry…</button>
      {isAsking && (
        <Confirm title="Retry this error group" verb="Retry" onDo={retry}
          onClose={() => setIsAsking(false)}>
          <p>
            {plural(tasks, "task")} of <Foreign text={of.queue} /> that failed
            like <Foreign text={of.type || "this"} /> run again now.
          </p>
        </Confirm>
      )}
    </>
  );
}
