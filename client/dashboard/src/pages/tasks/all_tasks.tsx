// Tasks of several queues as one list.
import { admin } from "../../api/call";
import { useLive } from "../../api/live";
import type { QueueSummary } from "../../api/messages/queue";
import { usePlace } from "../../app/router";
import { Shown } from "../../parts/failure";
import { Page } from "../../parts/page";
import { FilterForm } from "./filter_form";
import { TaskList } from "./task_list";

const QUEUES_MAX = 100; // of one ListTasks
const NAMES_PERIOD_MS = 30_000;

async function loadNames(signal: AbortSignal): Promise<string[]> {
  const answer = await admin<{ summaries?: QueueSummary[] }>(
    "ListQueueSummaries", { pageSize: QUEUES_MAX + 1 }, signal);
  return (answer.summaries ?? []).map(({ queue }) => queue);
}

export function AllTasks() {
  const { query } = usePlace();
  const named = query.getAll("queue");
  const live = useLive(loadNames, [], { period: NAMES_PERIOD_MS });
  return (
    <Page title="Tasks">
      {named.length > 0 ? <TaskList queues={named} hasQueues />
        : <Shown live={live}>{(names) => <Unnamed names={names} />}</Shown>}
    </Page>
  );
}

function Unnamed({ names }: { names: string[] }) {
  if (names.length === 0) return <p>There are no queues that you may read.</p>;
  if (names.length <= QUEUES_MAX) return <TaskList queues={names} hasQueues />;
  return (
    <>
      <FilterForm hasQueues mayReadPayload={false} />
      <p>There are more than {QUEUES_MAX} queues: name those whose tasks you look for.</p>
    </>
  );
}
