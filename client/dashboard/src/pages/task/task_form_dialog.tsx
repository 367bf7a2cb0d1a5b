// The form that retries, copies or moves a task. The page goes on below it: if the task ends
// meanwhile, the form says so and keeps what was typed.
import { useState } from "preact/hooks";
import { change } from "../../api/call";
import type { Task } from "../../api/messages/task";
import { Confirm } from "../../parts/confirm";
import { Check, Field } from "../../parts/field";
import { State } from "../../parts/state";
import type { ContentProblems } from "../../text/content";
import { ContentFields } from "./content_fields";
import { newDraft, toRequest, type TaskDraft, type TaskForm } from "./task_forms";

interface Props {
  form: TaskForm;
  task: Task;
  isGone: boolean;
  hasPayload: boolean;
  draft: TaskDraft;
  onInput: (draft: TaskDraft) => void;
  onDone: (made: Task) => void;
  onClose: () => void;
}

const LABELS = { queue: "To queue", stage: "At stage", key: "Key of the copy" };
const HELP = { queue: "", stage: "Empty: the first", key: "Empty: none" };

export function TaskFormDialog(props: Props) {
  const { form, task, draft, onInput } = props;
  const [problems, setProblems] = useState<ContentProblems>({});
  const put = (changes: Partial<TaskDraft>) => onInput({ ...draft, ...changes });

  async function send() {
    const made = toRequest(form, task, draft);
    setProblems(made.problems);
    if (Object.keys(made.problems).length > 0) throw new Error("Nothing was changed: see above.");
    const answer = await change<{ task: Task }>(form.method, made.request);
    props.onDone(answer.task);
  }

  return (
    <Confirm title={form.title} verb={form.verb} isWide onDo={send} onClose={props.onClose}>
      <Meanwhile form={form} task={task} isGone={props.isGone} />
      {form.fields.length > 0 && (
        <div class="fields">
          {form.fields.map((name) => (
            <Field key={name} id={`task-${name}`} label={LABELS[name]} value={draft[name]}
              onInput={(text) => put({ [name]: text })}
              help={name === "queue" && form.method === "CopyTask" ? "Empty: its own" : HELP[name]}
            />
          ))}
        </div>
      )}
      {form.isContentOptional && (
        <Check id="task-has-content" label="With other content" isOn={draft.hasContent}
          onInput={(hasContent) => put({ hasContent })} />
      )}
      {(draft.hasContent || !form.isContentOptional) && (
        <>
          {!props.hasPayload && (
            <p class="none">You may not see what the task has: this replaces all of it.</p>
          )}
          <ContentFields of={draft.content} problems={problems}
            onInput={(content) => put({ content })} />
          <button type="button" class="quiet"
            onClick={() => put({ content: newDraft(task).content })}>
            As the task has it
          </button>
        </>
      )}
    </Confirm>
  );
}

function Meanwhile({ form, task, isGone }: { form: TaskForm; task: Task; isGone: boolean }) {
  if (!isGone && form.fits(task)) return null;
  return (
    <div class="failure" role="alert">
      {isGone ? <p>This task is no longer known. What you typed is still here.</p> : (
        <p>
          This task is <State of={task.state} /> now and cannot be {form.done} as it is. What you
          typed is still here, and a copy can have it.
        </p>
      )}
    </div>
  );
}
