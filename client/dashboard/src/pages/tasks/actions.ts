// What can be done to a task, and to which ones.
import { change } from "../../api/call";
import type { BulkAction } from "../../api/messages/bulk";
import type { Task } from "../../api/messages/task";
import { parseDuration } from "../../text/duration";
import { parseTime } from "../../text/time";

export type Asks = "priority" | "time" | "postpone";

export interface TaskAction {
  name: string;
  title: string;
  /** What was done, before ": 3 tasks". */
  done: string;
  fits: (task: Task) => boolean;
  method: string;
  fields?: (value: string) => object;
  /** The same in bulk, where there is such. */
  bulk?: (value: string) => BulkAction;
  asks?: Asks;
  isDangerous?: boolean;
}

const is = (...states: string[]) => (task: Task) =>
  states.includes(task.state.replace("TASK_STATE_", ""));
const isPaused = (task: Task) => !!task.recurrence?.paused;
const isPeriodic = (task: Task) => !!task.recurrence;
const waits = is("SCHEDULED", "READY");
const isUnfinished = is("SCHEDULED", "READY", "LEASED");

export const canRetry = (task: Task) => is("FAILED")(task)
  || (is("SCHEDULED")(task) && !!task.lastError && !isPeriodic(task));
export const canMove = (task: Task) => is("SCHEDULED", "READY", "FAILED")(task) && !isPaused(task);

export function readPriority(text: string): number {
  const value = Number(text);
  if (text.trim() === "" || !Number.isInteger(value) || Math.abs(value) > 32768) {
    throw new Error("A priority is a whole number from -32768 to 32767.");
  }
  return value;
}

export const ACTIONS: TaskAction[] = [
  {
    name: "retry", title: "Retry", done: "Retried", method: "RetryTask",
    fits: canRetry, bulk: () => ({ retry: {} }),
  },
  {
    name: "run_now", title: "Run now", done: "Run now", method: "RescheduleTask",
    fields: () => ({ runNow: {} }), bulk: () => ({ runNow: {} }),
    fits: (task) => is("SCHEDULED")(task) && !isPaused(task),
  },
  {
    name: "trigger", title: "Trigger", done: "Triggered", method: "TriggerTask",
    fits: (task) => waits(task) && isPeriodic(task),
  },
  {
    name: "pause", title: "Pause", done: "Paused", method: "PauseTask",
    fits: (task) => isUnfinished(task) && isPeriodic(task) && !isPaused(task),
  },
  {
    name: "resume", title: "Resume", done: "Resumed", method: "ResumeTask",
    fits: isPaused,
  },
  {
    name: "priority", title: "Set priority", done: "New priority", asks: "priority",
    method: "PrioritizeTask", fields: (text) => ({ priority: readPriority(text) }),
    bulk: (text) => ({ setPriority: readPriority(text) }), fits: isUnfinished,
  },
  {
    name: "reschedule", title: "Reschedule", done: "Rescheduled", asks: "time",
    method: "RescheduleTask", fields: (text) => ({ scheduleTime: parseTime(text) }),
    bulk: (text) => ({ scheduleTime: parseTime(text) }),
    fits: (task) => waits(task) && !isPaused(task),
  },
  {
    name: "postpone", title: "Postpone", done: "Postponed", asks: "postpone",
    method: "RescheduleTask", fields: (text) => ({ postpone: parseDuration(text) }),
    bulk: (text) => ({ postpone: parseDuration(text) }),
    fits: (task) => waits(task) && !isPaused(task),
  },
  {
    name: "cancel", title: "Cancel", done: "Cancelled", method: "CancelTask",
    bulk: () => ({ cancel: {} }), fits: isUnfinished, isDangerous: true,
  },
  {
    name: "delete", title: "Delete", done: "Deleted", method: "DeleteTask",
    bulk: () => ({ delete: {} }), fits: is("SCHEDULED", "READY", "FAILED"), isDangerous: true,
  },
];

export async function act(action: TaskAction, task: Task, value: string): Promise<void> {
  await change(action.method, { taskId: task.taskId, ...action.fields?.(value) });
}
