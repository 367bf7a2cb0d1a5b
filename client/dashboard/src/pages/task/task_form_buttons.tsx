// Buttons that open the forms of a task, and what came of them.
import { useState } from "preact/hooks";
import { useMay } from "../../api/access";
import type { Task } from "../../api/messages/task";
import { tell } from "../../app/notices";
import { navigate, toTask } from "../../app/router";
import { Foreign } from "../../parts/foreign";
import { TaskFormDialog } from "./task_form_dialog";
import { needs, newDraft, TASK_FORMS, type TaskDraft, type TaskForm } from "./task_forms";

interface Props {
  of: Task;
  isGone: boolean;
  hasPayload: boolean;
  onDone: () => void;
}

export function TaskFormButtons({ of, isGone, hasPayload, onDone }: Props) {
  const [form, setForm] = useState<TaskForm | null>(null);
  const [draft, setDraft] = useState<TaskDraft | null>(null);
  const [copy, setCopy] = useState<Task | null>(null);
  const may = useMay();
  const fitting = isGone ? [] : TASK_FORMS.filter((one) =>
    one.fits(of) && needs(one).every((verb) => may(verb, of.queue)));

  function done(one: TaskForm, made: Task) {
    setDraft(null);
    tell(`Task ${of.taskId} is ${one.done}.`);
    onDone();
    if (one.method === "MoveTask") navigate(toTask(made.taskId));
    if (one.method === "CopyTask") setCopy(made);
  }

  return (
    <>
      {fitting.length > 0 && (
        <div class="buttons" role="group" aria-label="Forms">
          {fitting.map((one) => (
            <button type="button" key={one.title} onClick={() => {
              setDraft(draft ?? newDraft(of)); // what was typed before is still there
              setForm(one);
            }}>{one.title}…</button>
          ))}
        </div>
      )}
      {copy && (
        <p class="made" role="status">
          The copy is <a href={toTask(copy.taskId)}>{copy.taskId}</a> in{" "}
          <Foreign text={copy.queue} most={64} />.
        </p>
      )}
      {form && draft && (
        <TaskFormDialog form={form} task={of} isGone={isGone} hasPayload={hasPayload}
          draft={draft} onInput={setDraft} onDone={(made) => done(form, made)}
          onClose={() => setForm(null)} />
      )}
    </>
  );
}
