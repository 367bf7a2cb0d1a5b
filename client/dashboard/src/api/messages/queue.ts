// What the API says of queues. See proto/skiplane/v1/queue.proto.

export interface RetryPolicy {
  kind?: string;
  baseDelay?: string;
  factor?: number;
  maxDelay?: string;
  delays?: string[];
  jitter?: number;
  maxAttempts?: number;
}

export interface Stage {
  name: string;
  retry?: RetryPolicy;
  leaseDuration?: string;
  maxRunDuration?: string;
}

export interface QueueSettings {
  retry?: RetryPolicy;
  history?: string;
  leaseDuration?: string;
  maxPayloadBytes?: number;
  stages?: Stage[];
  maxRunDuration?: string;
  periodicHistory?: string;
  historyDays?: number;
  failedDays?: number;
  keepPayloads?: boolean;
  keepResults?: boolean;
  maxDepth?: string;
  maxBytes?: string;
  maxEnqueueRate?: number;
  packing?: string;
}

export interface StageCounts {
  stage: string;
  scheduledCount?: string;
  readyCount?: string;
  leasedCount?: string;
  succeededCount?: string;
  failedCount?: string;
  oldestReadyAge?: string;
}

export interface QueueCounts {
  scheduledCount?: string;
  readyCount?: string;
  leasedCount?: string;
  succeededCount?: string;
  failedCount?: string;
  cancelledCount?: string;
  stages?: StageCounts[];
}

export interface Queue {
  name: string;
  settings: QueueSettings;
  laneCount?: number;
  pauseMode?: string;
  pauseReason?: string;
  createTime?: string;
  updateTime?: string;
  etag: string;
  counts?: QueueCounts;
  deleting?: boolean;
}

export interface QueueSummary {
  queue: string;
  pauseMode?: string;
  pauseReason?: string;
  counts?: QueueCounts;
  deadLetterCount?: string;
  enqueueRate?: number;
  successRate?: number;
  failureRate?: number;
  oldestReadyAge?: string;
  oldestAttemptAge?: string;
  deleting?: boolean;
}
