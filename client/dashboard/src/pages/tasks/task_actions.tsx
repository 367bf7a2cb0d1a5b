// Buttons for what can be done to some tasks, one by one. Those that cannot be changed are told.
import { useState } from "preact/hooks";
import { useMay } from "../../api/access";
import { asRefusal } from "../../api/refusal";
import type { Task } from "../../api/messages/task";
import { tell } from "../../app/notices";
import { Confirm } from "../../parts/confirm";
import { Foreign } from "../../parts/foreign";
import { plural } from "../../text/number";
import { ActionValue } from "./action_value";
import { act, ACTIONS, type TaskAction } from "./actions";

const AT_ONCE = 4;

interface Failed {
  taskId: string;
  why: string;
}

async function actOnAll(action: TaskAction, tasks: Task[], value: string): Promise<Failed[]> {
  const failed: Failed[] = [];
  const rest = [...tasks];
  const work = async () => {
    for (let task = rest.shift(); task; task = rest.shift()) {
      try {
        await act(action, task, value);
      } catch (error) {
        failed.push({ taskId: task.taskId, why: asRefusal(error).message });
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return failed;
}

/** With `only`, the names of those that are offered. */
export function TaskActions({ tasks, onDone, only }:
  { tasks: Task[]; onDone: () => void; only?: string[] }) {
  const [asked, setAsked] = useState<{ action: TaskAction; tasks: Task[] } | null>(null);
  const [failed, setFailed] = useState<Failed[]>([]);
  const may = useMay();
  const mine = tasks.filter((task) => may("OPERATE", task.queue));

  async function run(action: TaskAction, some: Task[], value = "") {
    action.fields?.(value); // throws before anything is changed if the value is wrong
    const found = await actOnAll(action, some, value);
    setFailed(found);
    const changed = some.length - found.length;
    if (changed > 0) tell(`${action.done}: ${plural(changed, "task")}.`);
    onDone();
  }

  if (mine.length === 0) {
    return tasks.length > 0 ? <span class="none">read-only</span> : null;
  }
  const offered = ACTIONS.filter((action) => !only || only.includes(action.name));
  const fitting = offered.map((action) => ({ action, tasks: mine.filter(action.fits) }));
  return (
    <>
      <div class="buttons" role="group" aria-label="Actions">
        {fitting.filter((one) => one.tasks.length > 0).map(({ action, tasks: some }) => (
          <button type="button" key={action.name} class={action.isDangerous ? "danger" : undefined}
            onClick={() => (action.asks || action.isDangerous
              ? setAsked({ action, tasks: some }) : void run(action, some))}>
            {action.title}{mine.length > 1 && ` ${some.length}`}
            {(action.asks || action.isDangerous) && "…"}
          </button>
        ))}
      </div>
      <Failures of={failed} />
      {asked && (
        <Ask {...asked} onDo={(value) => run(asked.action, asked.tasks, value)}
          onClose={() => setAsked(null)} />
      )}
    </>
  );
}

function Ask({ action, tasks, onDo, onClose }:
  { action: TaskAction; tasks: Task[]; onDo: (value: string) => Promise<void>;
    onClose: () => void }) {
  const [value, setValue] = useState("");
  const name = tasks[0]!.key || tasks[0]!.taskId;
  return (
    <Confirm title={`${action.title}: ${plural(tasks.length, "task")}`} verb={action.title}
      isDangerous={action.isDangerous} onDo={() => onDo(value)} onClose={onClose}>
      {tasks.length === 1 && <p><Foreign text={name} /></p>}
      {action.asks && (
        <ActionValue id="action-value" asks={action.asks} value={value} onInput={setValue} />
      )}
      {action.isDangerous && <p>This cannot be taken back.</p>}
    </Confirm>
  );
}

function Failures({ of }: { of: Failed[] }) {
  if (of.length === 0) return null;
  return (
    <div class="failure" role="alert">
      <p>{plural(of.length, "task")} stayed as before:</p>
      <ul>
        {of.slice(0, 10).map(({ taskId, why }) => (
          <li key={taskId}>{taskId}: <bdi>{why}</bdi></li>
        ))}
      </ul>
      {of.length > 10 && <p>and {of.length - 10} more</p>}
    </div>
  );
}
