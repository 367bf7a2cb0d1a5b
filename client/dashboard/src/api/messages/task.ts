// What the API says of tasks, as its JSON has it: fields with a default value may be missing, and
// 64-bit numbers are text. See proto/skiplane/v1/task.proto.

export type TaskState =
  | "TASK_STATE_SCHEDULED"
  | "TASK_STATE_READY"
  | "TASK_STATE_LEASED"
  | "TASK_STATE_SUCCEEDED"
  | "TASK_STATE_FAILED"
  | "TASK_STATE_CANCELLED";

export interface TaskError {
  type?: string;
  text?: string;
  fingerprint?: string;
}

export interface TaskProgress {
  fraction?: number;
  message?: string;
}

export interface Recurrence {
  period?: string;
  cron?: string;
  timeZone?: string;
  plannedTime?: string;
  catchUp?: string;
  paused?: boolean;
}

export interface Task {
  taskId: string;
  queue: string;
  state: TaskState;
  key?: string;
  priority?: number;
  attemptCount?: number;
  maxAttempts?: number;
  createTime?: string;
  scheduleTime?: string;
  leaseTime?: string;
  endTime?: string;
  lastError?: TaskError;
  workerName?: string;
  workerHandle?: string;
  progress?: TaskProgress;
  lastProgress?: TaskProgress;
  stage?: string;
  version?: string;
  recurrence?: Recurrence;
  rerunPending?: boolean;
  payload?: string;
  contentType?: string;
  headers?: Record<string, string>;
  cancelRequested?: boolean;
  result?: string;
}

export interface Attempt {
  attempt?: number;
  outcome: string;
  stage?: string;
  scheduleTime?: string;
  leaseTime?: string;
  endTime?: string;
  workerName?: string;
  error?: TaskError;
  endsTask?: boolean;
  payload?: string;
  result?: string;
}

export interface GetTaskResponse {
  task: Task;
  attempts?: Attempt[];
  nextAttemptsPageToken?: string;
}

export interface ListTasksResponse {
  tasks?: Task[];
  nextPageToken?: string;
}

export interface ExplainTaskResponse {
  task: Task;
  reasons?: string[];
  explanation?: string;
  scheduleTime?: string;
  aheadCount?: string;
  waitingLeaseCount?: string;
  busyWorkerCount?: string;
}
