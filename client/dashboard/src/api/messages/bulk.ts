// What the API says of filters and of changes of many tasks. See proto/skiplane/v1/bulk.proto.

import type { TaskState } from "./task";

export interface TaskFilter {
  queue?: string;
  stage?: string;
  states?: TaskState[];
  keyPrefix?: string;
  headers?: Record<string, string>;
  fingerprint?: string;
  minAge?: string;
  maxAge?: string;
  priority?: number;
  periodic?: boolean;
  all?: boolean;
  taskIds?: string[];
  errorType?: string;
  minAttempts?: number;
  startTime?: string;
  endTime?: string;
  payloadText?: string;
}

export interface BulkAction {
  setPriority?: number;
  runNow?: object;
  scheduleTime?: string;
  postpone?: string;
  retry?: object;
  cancel?: object;
  delete?: object;
  deleteQueue?: { withTasks?: boolean };
}

export interface BulkOperation {
  operationId: string;
  action: BulkAction;
  filter: TaskFilter;
  dryRun?: boolean;
  state: string;
  scannedCount?: string;
  matchedCount?: string;
  changedCount?: string;
  totalEstimate?: string;
  actor?: string;
  createTime?: string;
  updateTime?: string;
}

export interface OperationResponse {
  operation: BulkOperation;
}
