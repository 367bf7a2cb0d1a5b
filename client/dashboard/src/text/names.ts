// What the API's names are called on the pages.
import type { BulkAction } from "../api/messages/bulk";
import type { TaskState } from "../api/messages/task";
import { duration, seconds } from "./duration";
import { local } from "./time";

export const STATES: TaskState[] = [
  "TASK_STATE_SCHEDULED", "TASK_STATE_READY", "TASK_STATE_LEASED", "TASK_STATE_FAILED",
  "TASK_STATE_SUCCEEDED", "TASK_STATE_CANCELLED",
];

/** "TASK_STATE_READY" is "ready". */
export function stateName(state: string | undefined): string {
  return word(state, "TASK_STATE_");
}

export function word(name: string | undefined, prefix: string): string {
  return (name ?? "").replace(prefix, "").toLowerCase().replace(/_/g, " ");
}

export function pauseName(mode: string | undefined): string {
  switch (mode) {
    case "PAUSE_MODE_LEASE": return "leases paused";
    case "PAUSE_MODE_ENQUEUE": return "enqueues paused";
    case "PAUSE_MODE_BOTH": return "leases and enqueues paused";
    default: return "";
  }
}

/** "Retry", "Set priority 5". */
export function actionName(action: BulkAction | undefined): string {
  if (!action) return "Change";
  if (action.setPriority !== undefined) return `Set priority ${action.setPriority}`;
  if (action.runNow) return "Run now";
  if (action.scheduleTime) return `Run at ${local(action.scheduleTime)}`;
  if (action.postpone) return `Postpone by ${duration(seconds(action.postpone))}`;
  if (action.retry) return "Retry";
  if (action.cancel) return "Cancel";
  if (action.delete) return "Delete";
  if (action.deleteQueue) return "Delete the queue";
  return "Change";
}
