// What pages ask again and again is asked once for all tabs of a browser: the first whose turn it
// is asks the broker, and the others take its answer. Nobody leads, so nobody has to be replaced:
// the lock of a question keeps others waiting while it is asked, and goes with its tab. Browsers
// have such locks by TLS and on the machine itself only; elsewhere each tab asks for itself.
import { noteDate } from "./clock";
import { Refusal } from "./refusal";

export interface Answer {
  text: string;
  /** The broker's clock. */
  date: string | null;
}

interface Told extends Partial<Answer> {
  question: string;
  askedAt: number;
  answeredAt: number;
  /** If it is refused: code, message, reason, field, status. */
  refused?: [string, string, string, string, number];
}

/** What a loop wants to know, and what it got. */
export interface Sharing {
  /** Answers are asked for after this. */
  since: number;
  /** And came after this. */
  freshFrom: number;
  /** When the oldest answer came, and how long the slowest took; 0 if none did. */
  answeredAt: number;
  took: number;
}

const KEPT_MS = 60_000;
const ON_ITS_WAY_MS = 20; // an answer can come a little later than the lock of its question
const sharings = new WeakMap<AbortSignal, Sharing>();
const known = new Map<string, Told>();
const channel = navigator.locks && new BroadcastChannel("skiplane");
let changedAt = 0;

if (channel) {
  channel.onmessage = ({ data }: MessageEvent<Told>) => {
    noteDate(data.date ?? null);
    keep(data);
  };
}

function keep(told: Told): void {
  const now = Date.now();
  for (const [question, { answeredAt }] of known) {
    if (Math.abs(now - answeredAt) > KEPT_MS) known.delete(question);
  }
  known.set(told.question, told);
}

/** This tab changed something: no answer from before is shown as if it were new. */
export function noteChange(): void {
  changedAt = Date.now();
}

/** Calls with this signal may take answers of other tabs, from now on and until the next such. */
export function beginSharing(signal: AbortSignal, since: number, freshFrom: number): Sharing {
  const sharing = { since, freshFrom, answeredAt: 0, took: 0 };
  sharings.set(signal, sharing);
  return sharing;
}

function find(question: string, { since, freshFrom }: Sharing): Told | undefined {
  const told = known.get(question);
  const isFresh = told && told.askedAt > Math.max(since, changedAt)
    && told.answeredAt > freshFrom && told.answeredAt <= Date.now();
  return isFresh ? told : undefined;
}

function take(told: Told, sharing: Sharing): string {
  sharing.answeredAt = Math.min(sharing.answeredAt || Infinity, told.answeredAt);
  sharing.took = Math.max(sharing.took, told.answeredAt - told.askedAt);
  if (told.refused) throw new Refusal(...told.refused);
  return told.text!;
}

async function askAndTell(question: string, ask: () => Promise<Answer>): Promise<Told> {
  const askedAt = Date.now();
  const tell = (what: Partial<Told>) => {
    const told = { question, askedAt, answeredAt: Date.now(), ...what };
    keep(told);
    channel!.postMessage(told);
    return told;
  };
  try {
    return tell(await ask());
  } catch (error) {
    // Each tab finds by itself that it has to log in.
    if (!(error instanceof Refusal) || error.status === 401) throw error;
    return tell({ refused: [error.code, error.message, error.reason, error.field, error.status] });
  }
}

/** The text of the answer, from another tab if that has just got it. */
export async function shared(
  question: string, ask: () => Promise<Answer>, signal?: AbortSignal,
): Promise<string> {
  const sharing = signal && sharings.get(signal);
  if (!channel || !sharing) return (await ask()).text;
  const told = find(question, sharing);
  if (told) return take(told, sharing);
  const began = Date.now();
  const found = await navigator.locks.request(`skiplane ${question}`, { signal }, async () => {
    if (!find(question, sharing) && Date.now() > began + 1) {
      await new Promise((go) => setTimeout(go, ON_ITS_WAY_MS));
    }
    return find(question, sharing) ?? await askAndTell(question, ask);
  });
  return take(found, sharing);
}
