// A page of tasks that match the filter of the address, and what can be done to them.
import { useState } from "preact/hooks";
import { useMay } from "../../api/access";
import { admin } from "../../api/call";
import { useLive } from "../../api/live";
import type { ListTasksResponse } from "../../api/messages/task";
import { usePlace } from "../../app/router";
import { Shown } from "../../parts/failure";
import { Pager } from "../../parts/pager";
import { ChangeAll } from "./change_all";
import { readDraft, readFilter } from "./filter";
import { FilterForm } from "./filter_form";
import { TaskActions } from "./task_actions";
import { TaskTable } from "./task_table";

const ROWS = 50;

/** `hasQueues`: the form has a field for queues, and rows say theirs. */
export function TaskList({ queues, hasQueues }: { queues: string[]; hasQueues: boolean }) {
  const { query } = usePlace();
  const may = useMay();
  const [selected, setSelected] = useState(new Set<string>());
  const after = query.get("after") ?? "";
  const { filter, problems } = readFilter(readDraft(query));
  const workerHandle = query.get("worker") ?? "";
  const request = {
    workerHandle,
    filter: queues.length === 1 ? { ...filter, queue: queues[0] } : filter,
    queues: queues.length === 1 ? [] : queues,
    order: query.get("order") === "oldest" ? "LIST_ORDER_OLDEST_FIRST" : "LIST_ORDER_NEWEST_FIRST",
    pageSize: ROWS,
    pageToken: after,
  };
  const isWrong = Object.keys(problems).length > 0;
  const live = useLive(
    (signal) => admin<ListTasksResponse>("ListTasks", request, signal), [request],
    { isOn: !isWrong });
  const tasks = live.value?.tasks ?? [];
  const isOperator = queues.some((queue) => may("OPERATE", queue));
  const chosen = tasks.filter((task) => selected.has(task.taskId));
  return (
    <>
      <FilterForm key={query.toString()} hasQueues={hasQueues}
        mayReadPayload={queues.every((queue) => may("READ_PAYLOAD", queue))} />
      {isWrong && <p class="failure" role="alert">{Object.values(problems).join(" ")}</p>}
      {live.value && isOperator && (
        <div class="selection">
          <span role="status" class="none">
            {chosen.length > 0 ? `${chosen.length} selected` : "Select tasks to change them."}
          </span>
          <TaskActions tasks={chosen} onDone={live.reload} />
        </div>
      )}
      {!isWrong && (
        <Shown live={live}>
          {({ nextPageToken }) => (
            <TaskTable tasks={tasks} hasQueue={hasQueues} isMore={!!nextPageToken}
              selected={isOperator ? selected : null} onSelect={setSelected} />
          )}
        </Shown>
      )}
      <Pager after={after} next={live.value?.nextPageToken} what="tasks" />
      {!isWrong && isOperator && !workerHandle && <ChangeAll queues={queues} filter={filter} />}
    </>
  );
}
