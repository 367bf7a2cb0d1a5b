// Why a task does not run, as the broker says.
import { admin } from "../../api/call";
import { useLive } from "../../api/live";
import type { ExplainTaskResponse } from "../../api/messages/task";
import { Foreign } from "../../parts/foreign";
import { Time } from "../../parts/time";
import { number, plural } from "../../text/number";

/** The broker's words begin small, as in a line of a log. */
function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

export function Explained({ taskId }: { taskId: string }) {
  const { value } = useLive(
    (signal) => admin<ExplainTaskResponse>("ExplainTask", { taskId }, signal), [taskId]);
  if (!value) return null;
  const waiting = number(value.waitingLeaseCount);
  const busy = number(value.busyWorkerCount);
  return (
    <section class="explained" aria-label="Why it does not run">
      <p class="sentence">
        <Foreign text={sentence(value.explanation ?? "")} most={2000} />
      </p>
      {value.scheduleTime && <p>It can run <Time at={value.scheduleTime} />.</p>}
      {waiting > 0 && <p>{plural(waiting, "lease call")} for it at this broker.</p>}
      {busy > 0 && <p>{plural(busy, "worker")} busy with tasks of its queue and stage.</p>}
    </section>
  );
}
