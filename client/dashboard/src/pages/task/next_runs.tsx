// The next planned times of a periodic task.
import { admin } from "../../api/call";
import { useLive } from "../../api/live";
import type { Task } from "../../api/messages/task";
import { Shown } from "../../parts/failure";
import { Section } from "../../parts/page";
import { Time } from "../../parts/time";

const COUNT = 5;
const PERIOD_MS = 30_000;

export function NextRuns({ of }: { of: Task }) {
  return (
    <Section title="Next planned times">
      {of.recurrence?.paused && <p>It is paused: it runs at none of them until it is resumed.</p>}
      <PlannedTimes of={of} />
    </Section>
  );
}

export function PlannedTimes({ of }: { of: Task }) {
  const live = useLive(
    (signal) => admin<{ plannedTimes?: string[] }>(
      "PreviewSchedule", { taskId: of.taskId, count: COUNT }, signal),
    [of.taskId, of.recurrence?.plannedTime], { period: PERIOD_MS });
  return (
    <Shown live={live}>
      {({ plannedTimes }) => (
        <ul class="times">
          {(plannedTimes ?? []).map((time) => <li key={time}><Time at={time} isFull /></li>)}
        </ul>
      )}
    </Shown>
  );
}
