// A task with its attempts. Its payload is large and does not change with each look: it is asked
// for again only when something else of the task did.
import { may, who } from "../../api/access";
import { admin } from "../../api/call";
import type { Attempt, GetTaskResponse, Task } from "../../api/messages/task";

const ATTEMPTS = 50;

export interface Loaded {
  task: Task;
  attempts: Attempt[];
  moreAttempts: string;
  /** Whether `task` has its payload, and attempts theirs. */
  hasPayload: boolean;
}

function mark(task: Task): string {
  const { state, attemptCount, createTime, leaseTime, endTime, version, stage } = task;
  return JSON.stringify([state, attemptCount, createTime, leaseTime, endTime, version, stage]);
}

function get(taskId: string, view: string, attemptsPageSize: number, signal: AbortSignal) {
  return admin<GetTaskResponse>("GetTask", { taskId, view, attemptsPageSize }, signal);
}

/** Answers each call with what is new, and what is known from before. */
export function makeLoader(taskId: string): (signal: AbortSignal) => Promise<Loaded> {
  let known: Loaded | undefined;
  return async (signal) => {
    const basic = await get(taskId, "TASK_VIEW_BASIC", 0, signal);
    if (known && mark(known.task) === mark(basic.task)) {
      const { payload, contentType, headers, result } = known.task;
      known = { ...known, task: { ...basic.task, payload, contentType, headers, result } };
      return known;
    }
    const hasPayload = may(who.get(), "READ_PAYLOAD", basic.task.queue);
    const view = hasPayload ? "TASK_VIEW_FULL" : "TASK_VIEW_BASIC";
    const answer = await get(taskId, view, ATTEMPTS, signal);
    known = {
      task: answer.task,
      attempts: answer.attempts ?? [],
      moreAttempts: answer.nextAttemptsPageToken ?? "",
      hasPayload,
    };
    return known;
  };
}

export function loadAttempts(taskId: string, attemptsPageToken: string) {
  return admin<GetTaskResponse>("GetTask",
    { taskId, attemptsPageSize: ATTEMPTS, attemptsPageToken });
}
