// Watches all queues while somebody wants to know of them and the page is seen.
import { noteAnswer, noteAway } from "../connection";
import { askForLogIn, logIns } from "../log_in";
import type { QueueSummary } from "../messages/queue";
import { asRefusal, type Refusal } from "../refusal";
import { makeStore } from "../store";
import { KnownQueues } from "./known_queues";
import { readMessages, type WatchResponse } from "./messages";
import { refusalToldBy, Tabs, type Told } from "./tabs";

export interface Watched {
  /** Whether what is told is the case now. */
  isLive: boolean;
  all?: QueueSummary[];
  refusal?: Refusal;
}

const FIRST_DELAY_MS = 1000;
const LONGEST_DELAY_MS = 30_000;

export const watched = makeStore<Watched>({ isLive: false });
/** This broker, or what is between, has no such stream. */
export const isAbsent = makeStore(false);

const known = new KnownQueues();
const changes = new Map<string, number>(); // by queue: when this page heard of it
const listeners = new Set<() => void>();
let wanting = 0;
let failures = 0;
let isReading = false;
let owesAll = false; // to a tab that joined before all was known here
let abort: AbortController | null = null;
let stream: AbortController | null = null; // the one that is read here
let goOn: (() => void) | null = null;
const tabs = new Tabs(hear);
document.addEventListener("visibilitychange", update);
logIns.watch(() => {
  tabs.tell({ kind: "logged_in" });
  stream?.abort();
});

/** Until the function that it returns is called. */
export function watch(): () => void {
  wanting += 1;
  update();
  return () => {
    wanting -= 1;
    update();
  };
}

/** Called when some queues changed, or are told of anew. */
export function onChange(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** When this page heard last that the queue changed. */
export function changedAt(queue: string): number {
  return changes.get(queue) ?? 0;
}

/** A stream that broke is begun anew without a delay. */
export function tryNow(): void {
  goOn?.();
}

function update(): void {
  const isOn = wanting > 0 && !document.hidden && !isAbsent.get();
  if (isOn === (abort !== null)) return;
  if (!isOn) {
    abort!.abort();
    abort = null;
    watched.set({ ...watched.get(), isLive: false });
    return;
  }
  abort = new AbortController();
  const { signal } = abort;
  tabs.tell({ kind: "joined" });
  void tabs.whenAlone(() => readOn(signal), signal);
}

/** Streams one after the other, until nobody wants them. */
async function readOn(signal: AbortSignal): Promise<void> {
  isReading = true;
  failures = 0;
  while (!signal.aborted && !isAbsent.get()) {
    try {
      await readOne(signal);
      await pass(Math.random() * FIRST_DELAY_MS, signal); // many end together, with their broker
    } catch (error) {
      if (!signal.aborted) await fail(asRefusal(error), signal).catch(() => undefined);
    }
  }
  isReading = false;
}

/** Until it ends in order, or somebody else logged in, who may see other queues. */
async function readOne(signal: AbortSignal): Promise<void> {
  let first = true;
  const own = new AbortController();
  stream = own;
  try {
    await readMessages((message) => {
      if (signal.aborted || own.signal.aborted) return;
      failures = 0;
      take(message, first);
      tabs.tell({ kind: "message", message, first });
      first = false;
      if (owesAll) tellAll();
    }, AbortSignal.any([signal, own.signal]));
  } catch (error) {
    if (!own.signal.aborted) throw error;
  }
}

async function fail(refusal: Refusal, signal: AbortSignal): Promise<void> {
  if (refusal.code === "unimplemented" || refusal.status === 404) {
    isAbsent.set(true);
    return;
  }
  takeRefusal(refusal);
  if (refusal.code === "unauthenticated") return askForLogIn(refusal, signal);
  tabs.tellRefusal(refusal);
  await pass(Math.min(FIRST_DELAY_MS * 2 ** failures, LONGEST_DELAY_MS), signal);
  failures += 1;
}

function pass(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      goOn = null;
      resolve();
    };
    const timer = window.setTimeout(end, milliseconds);
    goOn = end;
    signal.addEventListener("abort", end, { once: true });
  });
}

function hear(told: Told): void {
  if (told.kind === "logged_in") {
    stream?.abort();
  } else if (told.kind === "joined") {
    owesAll = isReading;
    if (isReading && watched.get().isLive) tellAll();
  } else if (abort === null || isReading) {
    return; // nobody here wants to know, or it comes from a tab that lets go
  } else if (told.kind === "refused") {
    takeRefusal(refusalToldBy(told));
  } else if (told.first || watched.get().isLive) {
    take(told.message, told.first);
  }
}

function tellAll(): void {
  const all = known.all();
  if (!all) return;
  owesAll = false;
  tabs.tell({ kind: "message", message: { summaries: all }, first: true });
}

function take(message: WatchResponse, first: boolean): void {
  if (first) known.clear();
  known.take(message);
  noteAnswer();
  const all = known.all();
  if (all) watched.set({ isLive: true, all });
  const now = Date.now();
  for (const { queue } of message.summaries ?? []) changes.set(queue, now);
  for (const queue of message.removedQueues ?? []) changes.set(queue, now);
  for (const listener of [...listeners]) listener();
}

function takeRefusal(refusal: Refusal): void {
  if (refusal.isAway) noteAway(refusal.message);
  watched.set({ ...watched.get(), isLive: false, refusal });
}
