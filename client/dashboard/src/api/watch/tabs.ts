// All tabs of a browser share one stream. The tab that holds a lock reads it and tells the others
// what it hears; when it closes, or is seen no more, the next one takes over with a stream of its
// own. Browsers have such locks by TLS and on the machine itself only; elsewhere each tab that is
// seen reads for itself.
import { Refusal } from "../refusal";
import type { WatchResponse } from "./messages";

/** What tabs say to each other. `first`: what was known before is not any more. */
export type Told =
  | { kind: "message"; message: WatchResponse; first: boolean }
  | { kind: "refused"; refused: [string, string, string, string, number] }
  | { kind: "joined" }
  | { kind: "logged_in" };

const NAME = "skiplane watch";

export class Tabs {
  private readonly channel = navigator.locks && new BroadcastChannel(NAME);

  constructor(hear: (told: Told) => void) {
    if (this.channel) this.channel.onmessage = ({ data }: MessageEvent<Told>) => hear(data);
  }

  tell(told: Told): void {
    this.channel?.postMessage(told);
  }

  tellRefusal({ code, message, reason, field, status }: Refusal): void {
    this.tell({ kind: "refused", refused: [code, message, reason, field, status] });
  }

  /** Runs `read` when no other tab reads, and until that returns. */
  async whenAlone(read: () => Promise<void>, signal: AbortSignal): Promise<void> {
    if (!this.channel) return read();
    try {
      await navigator.locks.request(NAME, { signal }, read);
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }
}

export function refusalToldBy(told: Told & { kind: "refused" }): Refusal {
  return new Refusal(...told.refused);
}
