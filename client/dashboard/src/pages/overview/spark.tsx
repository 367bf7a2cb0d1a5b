// How many attempts of a queue ended in each minute of the last hour, as a small curve. Loaded only
// for rows in view: each is a call.
import { useEffect, useRef, useState } from "preact/hooks";
import { admin } from "../../api/call";
import { now } from "../../api/clock";
import { useLive } from "../../api/live";
import type { MinuteStatistics } from "../../api/messages/report";
import { Curve } from "../../parts/curve";
import { count, number } from "../../text/number";

const MINUTES = 60;
const MINUTE_MS = 60_000;
const PERIOD_MS = 60_000;
const AT_ONCE = 4;

let underWay = 0;
const ahead: (() => void)[] = [];

/** A page has many of these; the broker gets a few at a time. */
async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  if (underWay >= AT_ONCE) await new Promise<void>((resolve) => ahead.push(resolve));
  underWay += 1;
  try {
    return await work();
  } finally {
    underWay -= 1;
    ahead.shift()?.();
  }
}

async function load(queue: string, signal: AbortSignal): Promise<number[]> {
  const first = Math.floor(now() / MINUTE_MS) * MINUTE_MS - (MINUTES - 1) * MINUTE_MS;
  const answer = await inTurn(() => admin<{ minutes?: MinuteStatistics[] }>(
    "GetMinuteStatistics", { queue, startTime: new Date(first).toISOString() }, signal));
  const counts = new Array<number>(MINUTES).fill(0);
  for (const minute of answer.minutes ?? []) {
    const index = Math.round((Date.parse(minute.startTime) - first) / MINUTE_MS);
    if (index >= 0 && index < MINUTES) counts[index]! += number(minute.run?.count);
  }
  return counts;
}

function useIsSeen() {
  const element = useRef<HTMLSpanElement>(null);
  const [isSeen, setIsSeen] = useState(false);
  useEffect(() => {
    const watcher = new IntersectionObserver(
      (entries) => setIsSeen(entries.some((entry) => entry.isIntersecting)));
    if (element.current) watcher.observe(element.current);
    return () => watcher.disconnect();
  }, []);
  return { element, isSeen };
}

export function Spark({ queue }: { queue: string }) {
  const { element, isSeen } = useIsSeen();
  const { value } = useLive((signal) => load(queue, signal), [queue],
    { period: PERIOD_MS, isOn: isSeen });
  const all = value?.reduce((sum, one) => sum + one, 0) ?? 0;
  return (
    <span ref={element} class="spark">
      {value && <Curve counts={value} label={`${count(all)} attempts ended in the last hour`} />}
    </span>
  );
}
