// A periodic task as a row. Its next times are asked for when somebody wants to see them.
import { useState } from "preact/hooks";
import type { Task } from "../../api/messages/task";
import { toQueue, toTask } from "../../app/router";
import { Foreign } from "../../parts/foreign";
import { State } from "../../parts/state";
import { Time } from "../../parts/time";
import { duration, seconds } from "../../text/duration";
import { PlannedTimes } from "../task/next_runs";
import { TaskActions } from "../tasks/task_actions";

const ACTIONS = ["trigger", "pause", "resume"];

export function ScheduleRow({ of, onDone }: { of: Task; onDone: () => void }) {
  const schedule = of.recurrence ?? {};
  return (
    <tr>
      <th scope="row">
        <a href={toTask(of.taskId)}><Foreign text={of.key || of.taskId} most={48} /></a>
      </th>
      <td>
        <a href={toQueue(of.queue, "schedules")}><Foreign text={of.queue} most={40} /></a>
        {of.stage && <> · <Foreign text={of.stage} most={24} /></>}
      </td>
      <td>
        {schedule.cron
          ? <><code><Foreign text={schedule.cron} most={60} /></code> {schedule.timeZone}</>
          : <>every {duration(seconds(schedule.period))}</>}
      </td>
      <td><Time at={schedule.plannedTime} /></td>
      <td>
        <State of={of.state} />
        {schedule.paused && <> <span class="tag warn">paused</span></>}
      </td>
      <td>
        {of.lastError
          ? <Foreign text={of.lastError.type || "(no type)"} most={40} />
          : <span class="none">–</span>}
      </td>
      <td><TaskActions tasks={[of]} onDone={onDone} only={ACTIONS} /></td>
      <td class="samples"><Next of={of} /></td>
    </tr>
  );
}

function Next({ of }: { of: Task }) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <details onToggle={(event) => setIsOpen((event.target as HTMLDetailsElement).open)}>
      <summary>Show</summary>
      {isOpen && <PlannedTimes of={of} />}
    </details>
  );
}
