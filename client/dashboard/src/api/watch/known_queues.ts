// What is known of all queues, from messages of what changed.
import type { QueueSummary } from "../messages/queue";
import type { WatchResponse } from "./messages";

export class KnownQueues {
  private readonly byName = new Map<string, QueueSummary>();
  private isWhole = false;
  private sorted: QueueSummary[] | null = null;

  /** All that is known was told anew: what is left of before goes. */
  clear(): void {
    this.byName.clear();
    this.isWhole = false;
    this.sorted = null;
  }

  take({ summaries = [], removedQueues = [], moreFollows = false }: WatchResponse): void {
    for (const summary of summaries) this.byName.set(summary.queue, summary);
    for (const name of removedQueues) this.byName.delete(name);
    if (summaries.length > 0 || removedQueues.length > 0) this.sorted = null;
    if (!moreFollows) this.isWhole = true;
  }

  /** By name, as the broker sorts them; nothing before the first ones are all there. */
  all(): QueueSummary[] | null {
    if (!this.isWhole) return null;
    this.sorted ??= [...this.byName.values()].sort(
      (one, other) => (one.queue < other.queue ? -1 : 1));
    return this.sorted;
  }
}
