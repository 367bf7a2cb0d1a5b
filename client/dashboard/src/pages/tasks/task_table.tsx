// Tasks as rows that can be selected.
import type { Task } from "../../api/messages/task";
import { toQueue, toTask } from "../../app/router";
import { Foreign } from "../../parts/foreign";
import { State } from "../../parts/state";
import { Empty, Table, type Column } from "../../parts/table";
import { Time } from "../../parts/time";

interface Props {
  tasks: Task[];
  hasQueue: boolean;
  isMore: boolean;
  /** Ids of the selected ones; null if nothing can be selected. */
  selected: Set<string> | null;
  onSelect: (ids: Set<string>) => void;
}

export function TaskTable({ tasks, hasQueue, isMore, selected, onSelect }: Props) {
  const columns = columnsOf(tasks, hasQueue, selected, onSelect);
  const toggle = (id: string) => {
    const next = new Set(selected);
    if (!next.delete(id)) next.add(id);
    onSelect(next);
  };
  return (
    <Table label="Tasks" columns={columns}>
      {tasks.map((task) => (
        <Row key={task.taskId} of={task} hasQueue={hasQueue}
          isSelected={selected?.has(task.taskId)} onToggle={toggle} />
      ))}
      {tasks.length === 0 && (
        <Empty columns={columns.length}>
          {isMore ? "None on this page; the next one may have some."
            : "No task matches the filter."}
        </Empty>
      )}
    </Table>
  );
}

function columnsOf(tasks: Task[], hasQueue: boolean, selected: Set<string> | null,
  onSelect: (ids: Set<string>) => void): Column[] {
  const areAll = tasks.length > 0 && tasks.every((task) => selected?.has(task.taskId));
  const select: Column = {
    name: "select",
    title: (
      <input type="checkbox" aria-label="Select all of this page" checked={areAll}
        onChange={() => onSelect(new Set(areAll ? [] : tasks.map((task) => task.taskId)))} />
    ),
  };
  return [
    ...(selected ? [select] : []),
    { name: "id", title: "Task" },
    ...(hasQueue ? [{ name: "queue", title: "Queue" }] : []),
    { name: "state", title: "State" },
    { name: "key", title: "Key" },
    { name: "stage", title: "Stage" },
    { name: "priority", title: "Priority", isNumber: true },
    { name: "attempts", title: "Attempts", isNumber: true },
    { name: "created", title: "Enqueued" },
    { name: "when", title: "Runs or ended" },
    { name: "worker", title: "Worker" },
    { name: "error", title: "Last error" },
  ];
}

function Row({ of, hasQueue, isSelected, onToggle }:
  { of: Task; hasQueue: boolean; isSelected: boolean | undefined;
    onToggle: (id: string) => void }) {
  return (
    <tr class={isSelected ? "selected" : undefined}>
      {isSelected !== undefined && (
        <td>
          <input type="checkbox" aria-label={`Select ${of.taskId}`} checked={isSelected}
            onChange={() => onToggle(of.taskId)} />
        </td>
      )}
      <th scope="row"><a href={toTask(of.taskId)}>{of.taskId}</a></th>
      {hasQueue && <td><a href={toQueue(of.queue)}><Foreign text={of.queue} most={40} /></a></td>}
      <td>
        <State of={of.state} />
        {of.recurrence?.paused && <> <span class="tag warn">paused</span></>}
        {of.cancelRequested && <> <span class="tag warn">to be cancelled</span></>}
      </td>
      <td><Foreign text={of.key} most={40} /></td>
      <td><Foreign text={of.stage} most={24} /></td>
      <td class="number">{of.priority ?? 0}</td>
      <td class="number">{of.attemptCount ?? 0}/{of.maxAttempts}</td>
      <td><Time at={of.createTime} /></td>
      <td><Time at={of.endTime ?? of.leaseTime ?? of.scheduleTime} /></td>
      <td><Foreign text={of.workerName} most={24} /></td>
      <td class="long"><Foreign text={of.lastError?.type} most={40} /></td>
    </tr>
  );
}
