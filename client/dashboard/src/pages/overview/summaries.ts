// Lists of queues: what a column holds, and how they are filtered and sorted.
import { admin } from "../../api/call";
import type { QueueSummary } from "../../api/messages/queue";
import { seconds } from "../../text/duration";
import { number } from "../../text/number";

const PAGE_SIZE = 10_000;

interface Answer {
  summaries?: QueueSummary[];
  nextPageToken?: string;
}

/** All of them: to sort by a number needs every queue. */
export async function loadSummaries(signal: AbortSignal): Promise<QueueSummary[]> {
  const found: QueueSummary[] = [];
  let pageToken = "";
  do {
    const answer: Answer = await admin("ListQueueSummaries", { pageSize: PAGE_SIZE, pageToken },
      signal);
    found.push(...(answer.summaries ?? []));
    pageToken = answer.nextPageToken ?? "";
  } while (pageToken);
  return found;
}

export const MEASURES: Record<string, (summary: QueueSummary) => number> = {
  ready: (summary) => number(summary.counts?.readyCount),
  delayed: (summary) => number(summary.counts?.scheduledCount),
  leased: (summary) => number(summary.counts?.leasedCount),
  failed: (summary) => number(summary.deadLetterCount),
  in: (summary) => summary.enqueueRate ?? 0,
  done: (summary) => summary.successRate ?? 0,
  failing: (summary) => summary.failureRate ?? 0,
  oldest: (summary) => seconds(summary.oldestReadyAge),
  longest: (summary) => seconds(summary.oldestAttemptAge),
};

export function filtered(all: QueueSummary[], text: string): QueueSummary[] {
  const wanted = text.trim().toLowerCase();
  return wanted ? all.filter(({ queue }) => queue.toLowerCase().includes(wanted)) : all;
}

/** By name, else by a measure with the names as they are between equals. */
export function sorted(all: QueueSummary[], by: string, isFalling: boolean): QueueSummary[] {
  const sign = isFalling ? -1 : 1;
  const measure = MEASURES[by];
  if (!measure) return isFalling ? all.slice().reverse() : all;
  return all.slice().sort((one, other) => sign * (measure(one) - measure(other)));
}

export function total(all: QueueSummary[], by: string): number {
  const measure = MEASURES[by]!;
  return all.reduce((sum, summary) => sum + measure(summary), 0);
}
