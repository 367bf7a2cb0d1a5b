// Periodic tasks by their planned times, of all queues or of one.
import { useState } from "preact/hooks";
import { admin } from "../../api/call";
import { useLive } from "../../api/live";
import type { ListTasksResponse, Task } from "../../api/messages/task";
import { setQuery, usePlace } from "../../app/router";
import { Shown } from "../../parts/failure";
import { Field } from "../../parts/field";
import { Page } from "../../parts/page";
import { Pager } from "../../parts/pager";
import { Empty, Table } from "../../parts/table";
import { ScheduleRow } from "./schedule_row";

const COLUMNS = [
  { name: "key", title: "Key" },
  { name: "queue", title: "Queue" },
  { name: "schedule", title: "Schedule" },
  { name: "planned", title: "Planned time" },
  { name: "state", title: "State" },
  { name: "failure", title: "Last failed run" },
  { name: "action", title: "Action" },
  { name: "next", title: "Next planned times" },
];

export function Schedules() {
  const queue = usePlace().query.get("queue") ?? "";
  return (
    <Page title="Schedules">
      <QueueFilter key={queue} queue={queue} />
      <ScheduleList queue={queue} />
    </Page>
  );
}

function QueueFilter({ queue }: { queue: string }) {
  const [draft, setDraft] = useState(queue);
  function apply(event: Event) {
    event.preventDefault();
    setQuery({ queue: draft.trim(), after: undefined });
  }
  return (
    <form class="bar" role="search" aria-label="Filter of schedules" onSubmit={apply}>
      <Field id="schedules-queue" label="Queue" value={draft} onInput={setDraft}
        help="Its whole name; empty for all" />
      <button type="submit" class="main">Filter</button>
    </form>
  );
}

export function ScheduleList({ queue }: { queue: string }) {
  const after = usePlace().query.get("after") ?? "";
  const live = useLive((signal) => admin<ListTasksResponse>(
    "ListSchedules", { queue, pageToken: after }, signal), [queue, after]);
  return (
    <>
      <Shown live={live}>
        {({ tasks, nextPageToken }) => (
          <List of={tasks ?? []} isMore={!!nextPageToken} onDone={live.reload} />
        )}
      </Shown>
      <Pager after={after} next={live.value?.nextPageToken} what="schedules" />
    </>
  );
}

function List({ of, isMore, onDone }: { of: Task[]; isMore: boolean; onDone: () => void }) {
  return (
    <Table label="Schedules" columns={COLUMNS}>
      {of.map((task) => <ScheduleRow key={task.taskId} of={task} onDone={onDone} />)}
      {of.length === 0 && (
        <Empty columns={COLUMNS.length}>
          {isMore ? "None on this page; the next one may have some." : "No task is periodic."}
        </Empty>
      )}
    </Table>
  );
}
