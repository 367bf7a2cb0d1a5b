// Changes of one task that have a form: to retry it with other content, to copy it, to move it.
import type { Verb } from "../../api/access";
import type { Task } from "../../api/messages/task";
import { contentOf, draftOf, type ContentDraft, type ContentProblems } from "../../text/content";
import { canMove, canRetry } from "../tasks/actions";

/** One for all forms: what was typed to retry a task that ended meanwhile can go into a copy. */
export interface TaskDraft {
  content: ContentDraft;
  hasContent: boolean;
  queue: string;
  stage: string;
  key: string;
}

export interface TaskForm {
  title: string;
  /** What the dialog's button says. */
  verb: string;
  done: string;
  method: string;
  fits: (task: Task) => boolean;
  /** Where it goes; of a retry nowhere. */
  fields: ("queue" | "stage" | "key")[];
  /** Whether the content may stay as it is. */
  isContentOptional: boolean;
}

export const TASK_FORMS: TaskForm[] = [
  {
    title: "Retry with other content", verb: "Retry", done: "retried", method: "RetryTask",
    fits: canRetry, fields: [], isContentOptional: false,
  },
  {
    title: "Copy", verb: "Copy", done: "copied", method: "CopyTask", fits: () => true,
    fields: ["queue", "stage", "key"], isContentOptional: true,
  },
  {
    title: "Move", verb: "Move", done: "moved", method: "MoveTask", fits: canMove,
    fields: ["queue", "stage"], isContentOptional: true,
  },
];

export function newDraft(task: Task): TaskDraft {
  return { content: draftOf(task), hasContent: false, queue: "", stage: "", key: "" };
}

/** What the form needs on the task's own queue. */
export function needs(form: TaskForm): Verb[] {
  return form.isContentOptional ? ["OPERATE"] : ["OPERATE", "ENQUEUE"];
}

export function toRequest(form: TaskForm, task: Task, draft: TaskDraft) {
  const request: Record<string, unknown> = { taskId: task.taskId };
  for (const field of form.fields) {
    if (draft[field].trim()) request[field] = draft[field].trim();
  }
  if (form.isContentOptional && !draft.hasContent) return { request, problems: {} };
  const { content, problems } = contentOf(draft.content);
  return { request: { ...request, newContent: content }, problems: problems as ContentProblems };
}
