// A queue as a row: what an operator looks at first.
import type { QueueSummary } from "../../api/messages/queue";
import { toQueue } from "../../app/router";
import { Foreign } from "../../parts/foreign";
import { age } from "../../text/duration";
import { count, rate } from "../../text/number";
import { pauseName } from "../../text/names";
import { Spark } from "./spark";

/** A count that leads to its tasks. */
function Count({ value, queue, state, isBad }:
  { value: string | undefined; queue: string; state: string; isBad?: boolean }) {
  if (!value || value === "0") return <span class="none">0</span>;
  return (
    <a class={isBad ? "bad" : undefined} href={toQueue(queue, "tasks", { state })}>
      {count(value)}
    </a>
  );
}

function Rate({ value, isBad }: { value: number | undefined; isBad?: boolean }) {
  return <span class={!value ? "none" : isBad ? "bad" : undefined}>{rate(value)}</span>;
}

export function QueueRow({ of }: { of: QueueSummary }) {
  const { queue, counts } = of;
  const pause = pauseName(of.pauseMode);
  return (
    <tr>
      <th scope="row">
        <a href={toQueue(queue)}><Foreign text={queue} most={64} /></a>
        {pause && <> <span class="tag warn" title={of.pauseReason}>{pause}</span></>}
      </th>
      <td class="number"><Count value={counts?.readyCount} queue={queue} state="READY" /></td>
      <td class="number">
        <Count value={counts?.scheduledCount} queue={queue} state="SCHEDULED" />
      </td>
      <td class="number"><Count value={counts?.leasedCount} queue={queue} state="LEASED" /></td>
      <td class="number">
        <Count value={of.deadLetterCount} queue={queue} state="FAILED" isBad />
      </td>
      <td class="number"><Rate value={of.enqueueRate} /></td>
      <td class="number"><Rate value={of.successRate} /></td>
      <td class="number"><Rate value={of.failureRate} isBad /></td>
      <td class="number">{age(of.oldestReadyAge)}</td>
      <td class="number">{age(of.oldestAttemptAge)}</td>
      <td><Spark queue={queue} /></td>
    </tr>
  );
}
