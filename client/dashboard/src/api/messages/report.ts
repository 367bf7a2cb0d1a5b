// What the API reports. See proto/skiplane/v1/report.proto and access.proto.

export interface ErrorGroup {
  fingerprint: string;
  stage?: string;
  type?: string;
  text?: string;
  retryingCount?: string;
  failedCount?: string;
  firstSeenTime?: string;
  lastSeenTime?: string;
  sampleTaskIds?: string[];
  queue: string;
  note?: ErrorNote;
  hourlyFailureCounts?: string[];
}

export interface ErrorNote {
  text?: string;
  muted?: boolean;
  actor?: string;
  updateTime?: string;
}

export interface HourStatistics {
  startTime: string;
  stage?: string;
  outcome: string;
  attemptCount?: string;
  runMean?: string;
  runMax?: string;
  waitMean?: string;
}

export interface TimeSummary {
  count?: string;
  p50?: string;
  p95?: string;
  p99?: string;
}

export interface MinuteStatistics {
  startTime: string;
  stage?: string;
  run?: TimeSummary;
  wait?: TimeSummary;
}

export interface Worker {
  workerHandle: string;
  name?: string;
  createTime?: string;
  expireTime?: string;
  leasedCount?: string;
  clientVersion?: string;
  concurrency?: number;
  command?: string;
}

export interface BrokerInfo {
  brokerId: string;
  name?: string;
  version?: string;
  startTime?: string;
  expireTime?: string;
  isLeader?: boolean;
  isThis?: boolean;
}

export interface TableSize {
  table: string;
  rowBytes?: string;
  toastBytes?: string;
  indexBytes?: string;
  deadRowCount?: string;
}

export interface ServerInfo {
  version?: string;
  commit?: string;
  brokerName?: string;
  startTime?: string;
  databaseTime?: string;
  databaseVersion?: string;
  schemaVersion?: number;
  databaseBytes?: string;
  tables?: TableSize[];
  maxPayloadBytes?: string;
  maxRequestBytes?: string;
  databaseConnections?: number;
}

export interface AuditRecord {
  createTime?: string;
  actor?: string;
  method?: string;
  queue?: string;
  requestJson?: string;
  changedCount?: string;
  caller?: string;
  claimedActor?: string;
}

export interface WhoAmI {
  principal: string;
  groups?: string[];
  grants?: { verb: string; queues?: string[] }[];
}
