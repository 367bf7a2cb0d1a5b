// One stream of what changed: the messages of AdminService.Watch, by Connect's protocol. Each is an
// envelope: a byte of flags, four of length, then JSON.
import { noteDate } from "../clock";
import type { QueueSummary } from "../messages/queue";
import { Refusal, refusalIn, refusalOf, UNREACHABLE } from "../refusal";

export interface WatchResponse {
  summaries?: QueueSummary[];
  removedQueues?: string[];
  moreFollows?: boolean;
}

const PATH = "/skiplane.v1.AdminService/Watch";
const HEAD_BYTES = 5;
const END_OF_STREAM = 2;
// The broker says something every 30 s: a connection that is silent for longer is none.
const SILENT_MS = 75_000;

function broken(): Refusal {
  return new Refusal(UNREACHABLE, "The broker's messages did not come any more.");
}

function enveloped(body: object): Uint8Array<ArrayBuffer> {
  const text = new TextEncoder().encode(JSON.stringify(body));
  const bytes = new Uint8Array(HEAD_BYTES + text.length);
  new DataView(bytes.buffer).setUint32(1, text.length);
  bytes.set(text, HEAD_BYTES);
  return bytes;
}

async function begin(signal: AbortSignal): Promise<Response> {
  try {
    return await fetch(PATH, {
      method: "POST",
      headers: { "Content-Type": "application/connect+json", "Connect-Protocol-Version": "1" },
      body: enveloped({}),
      credentials: "same-origin",
      cache: "no-store",
      signal,
    });
  } catch (error) {
    if (signal.aborted) throw error;
    throw new Refusal(UNREACHABLE, "The broker cannot be reached.");
  }
}

/** Cuts what comes into envelopes. */
class Envelopes {
  private rest = new Uint8Array(0);

  *of(bytes: Uint8Array): Generator<{ flags: number; text: string }> {
    const joined = new Uint8Array(this.rest.length + bytes.length);
    joined.set(this.rest);
    joined.set(bytes, this.rest.length);
    let at = 0;
    while (joined.length - at >= HEAD_BYTES) {
      const end = at + HEAD_BYTES + new DataView(joined.buffer).getUint32(at + 1);
      if (end > joined.length) break;
      const text = new TextDecoder().decode(joined.subarray(at + HEAD_BYTES, end));
      yield { flags: joined[at]!, text };
      at = end;
    }
    this.rest = joined.slice(at);
  }
}

/** Returns when the broker ended the stream in order; throws a refusal else. */
export async function readMessages(
  take: (message: WatchResponse) => void, signal: AbortSignal,
): Promise<void> {
  const silence = new AbortController();
  let timer = 0;
  const heard = () => {
    clearTimeout(timer);
    timer = window.setTimeout(() => silence.abort(), SILENT_MS);
  };
  heard();
  try {
    const response = await begin(AbortSignal.any([signal, silence.signal]));
    noteDate(response.headers.get("Date"));
    if (!response.ok) throw await refusalOf(response);
    const reader = response.body!.getReader();
    const envelopes = new Envelopes();
    for (;;) {
      const { value, done } = await reader.read();
      if (done) throw broken();
      heard();
      for (const { flags, text } of envelopes.of(value)) {
        if ((flags & END_OF_STREAM) !== 0) return throwEnd(text);
        take(JSON.parse(text) as WatchResponse);
      }
    }
  } catch (error) {
    if (signal.aborted || error instanceof Refusal) throw error;
    throw broken();
  } finally {
    clearTimeout(timer);
  }
}

function throwEnd(text: string): void {
  const { error } = JSON.parse(text) as { error?: object };
  if (error) throw refusalIn(error);
}
