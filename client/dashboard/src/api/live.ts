// Keeps what a page shows up to date by asking again; sooner when there is news of it, where a
// stream tells that (watch/).
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { noteAnswer, noteAway } from "./connection";
import { asRefusal, type Refusal } from "./refusal";
import { beginSharing } from "./shared";
import { makeStore, useStore } from "./store";

export const PERIOD_MS = 2000;
const LONGEST_MS = 30_000;
// A call that takes long is made less often: the broker has others to serve.
const REST_PER_CALL = 5;
// Answers of other tabs count as new for this share of the period.
const FRESH_SHARE = 0.9;

/** Whether pages refresh by themselves; who reads a moving list may stop that. */
export const isLive = makeStore(true);
/** Grows when somebody asks for fresh values at once. */
export const refreshes = makeStore(0);

export interface Live<T> {
  value?: T;
  refusal?: Refusal;
  reload: () => void;
}

type Load<T> = (signal: AbortSignal) => Promise<T>;

/** What tells that there is something new; without it each period may bring some. */
export interface News {
  /** When the last came; infinite while nobody would tell. */
  at(): number;
  /** `listener` is called when some may have come. */
  watch(listener: () => void): () => void;
}

interface Options {
  period?: number;
  isOn?: boolean;
  news?: News;
}

export function useLive<T>(load: Load<T>, inputs: unknown[], options: Options = {}): Live<T> {
  const { period = PERIOD_MS, isOn = true, news } = options;
  const [state, setState] = useState<{ value?: T; refusal?: Refusal }>({});
  const loop = useRef<Loop<T> | null>(null);
  const goesOn = useStore(isLive);
  const inputsKey = JSON.stringify(inputs);

  useEffect(() => setState({}), [inputsKey]);

  useEffect(() => {
    if (!isOn) return undefined;
    const mine = new Loop(load, period, (next) =>
      setState((before) => ({ value: before.value, ...next })), news);
    loop.current = mine;
    mine.start();
    const unwatch = refreshes.watch(() => mine.now());
    const unwatchNews = news?.watch(() => mine.hearNews());
    return () => {
      unwatch();
      unwatchNews?.();
      mine.end();
      loop.current = null;
    };
  }, [inputsKey, isOn, period]);

  useEffect(() => loop.current?.catchUp(), [goesOn]);

  return { ...state, reload: useCallback(() => loop.current?.now(), []) };
}

/** One call at a time, and none while the page is hidden. Tabs that took the same answer come to
 * their next turn at the same time, so that one of them asks. */
class Loop<T> {
  private timer = 0;
  private isUnderWay = false;
  private isAskedAgain = false;
  private failures = 0;
  private readonly abort = new AbortController();
  private readonly onShow = () => this.catchUp();
  private isOverdue = false;
  private waitsForNews = false;
  private began = 0;

  constructor(
    private readonly load: Load<T>,
    private readonly period: number,
    private readonly tell: (next: { value?: T; refusal?: Refusal }) => void,
    private readonly news?: News,
  ) {
    document.addEventListener("visibilitychange", this.onShow);
  }

  start(): void {
    clearTimeout(this.timer);
    this.isOverdue = false;
    void this.run(false);
  }

  /** Takes no answer that was asked for before. */
  now(): void {
    clearTimeout(this.timer);
    this.isOverdue = false;
    if (this.isUnderWay) this.isAskedAgain = true;
    else void this.run(true);
  }

  /** Asks at once if the time for it came while the page was hidden or stopped. */
  catchUp(): void {
    if (this.isOverdue && !this.rests()) this.start();
  }

  hearNews(): void {
    if (this.waitsForNews && this.hasNews()) this.takeTurn();
  }

  private hasNews(): boolean {
    return !this.news || this.failures > 0 || this.news.at() > this.began;
  }

  private takeTurn(): void {
    clearTimeout(this.timer);
    this.waitsForNews = false;
    if (this.rests()) this.isOverdue = true;
    else void this.run(false);
  }

  /** A broker that is away is asked for even on a page that is stopped: the banner is about it. */
  private rests(): boolean {
    return document.hidden || (!isLive.get() && this.failures === 0);
  }

  end(): void {
    clearTimeout(this.timer);
    document.removeEventListener("visibilitychange", this.onShow);
    this.abort.abort();
  }

  private async run(isNew: boolean): Promise<void> {
    this.isUnderWay = true;
    this.waitsForNews = false;
    const began = Date.now();
    this.began = began;
    const newsAt = this.news?.at() ?? 0;
    const since = isNew ? began : Number.isFinite(newsAt) ? newsAt : 0;
    const sharing = beginSharing(this.abort.signal, since, began - this.period * FRESH_SHARE);
    try {
      const value = await this.load(this.abort.signal);
      if (this.abort.signal.aborted) return;
      this.failures = 0;
      noteAnswer();
      this.tell({ value, refusal: undefined });
    } catch (error) {
      if (this.abort.signal.aborted) return;
      const refusal = asRefusal(error);
      this.failures += 1;
      if (refusal.isAway) noteAway(refusal.message);
      else noteAnswer();
      this.tell({ refusal });
    }
    this.isUnderWay = false;
    const end = sharing.answeredAt || Date.now();
    this.goOn(Math.max(sharing.took, end - began), Math.max(Date.now() - end, 0));
  }

  private goOn(took: number, age: number): void {
    if (this.isAskedAgain) {
      this.isAskedAgain = false;
      void this.run(true);
      return;
    }
    // Not longer, though somebody set the computer's clock meanwhile.
    const rest = Math.max(this.period, Math.min(took, LONGEST_MS) * REST_PER_CALL);
    const wait = Math.min(rest * 2 ** this.failures, Math.max(rest, LONGEST_MS));
    this.timer = window.setTimeout(() => {
      if (this.hasNews()) return this.takeTurn();
      this.waitsForNews = true;
      this.timer = window.setTimeout(() => this.takeTurn(), LONGEST_MS);
    }, Math.max(wait - age, 0));
  }
}
