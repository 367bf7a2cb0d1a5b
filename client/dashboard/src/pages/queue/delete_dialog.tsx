// Asks once more before a queue is deleted: its name is to be typed. How far it is then has a page.
import { useState } from "preact/hooks";
import { change } from "../../api/call";
import type { OperationResponse } from "../../api/messages/bulk";
import type { Queue } from "../../api/messages/queue";
import { navigate, to } from "../../app/router";
import { Confirm } from "../../parts/confirm";
import { Field } from "../../parts/field";
import { Foreign } from "../../parts/foreign";
import { number, plural } from "../../text/number";

function tasksOf(queue: Queue): number {
  const counts = queue.counts;
  return number(counts?.scheduledCount) + number(counts?.readyCount) + number(counts?.leasedCount)
    + number(counts?.failedCount);
}

export function DeleteDialog({ of, onClose }: { of: Queue; onClose: () => void }) {
  const [typed, setTyped] = useState("");
  const [etag] = useState(of.etag);  // as it was when the question was asked
  const [tasks] = useState(tasksOf(of));

  async function remove() {
    if (typed !== of.name) throw new Error("Type the name of the queue to delete it.");
    const { operation } = await change<OperationResponse>("DeleteQueue",
      { name: of.name, etag, withTasks: tasks > 0, wait: "0s" });
    navigate(to(["operations", operation.operationId]));
  }

  return (
    <Confirm title="Delete this queue" verb="Delete it" isDangerous onDo={remove}
      onClose={onClose}>
      <p>
        <Foreign text={of.name} most={128} /> goes
        {tasks > 0 ? ` with ${plural(tasks, "task")}, those that run included,` : ""} and with what
        is kept of its finished tasks. Producers and workers are refused from now on.
      </p>
      <Field id="delete-name" label="The name of the queue" value={typed} onInput={setTyped} />
    </Confirm>
  );
}
