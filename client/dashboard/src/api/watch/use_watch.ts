// What pages know of the stream of changes.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { isLive, refreshes, useLive, type Live, type News } from "../live";
import type { QueueSummary } from "../messages/queue";
import { useStore } from "../store";
import { changedAt, isAbsent, onChange, tryNow, watch, watched } from "./watching";

type Load = (signal: AbortSignal) => Promise<QueueSummary[]>;

/** All queues, as they change. `load` asks for them: where a broker has no such stream, and when
 * somebody who stopped the page wants to see them. */
export function useAllQueues(load: Load): Live<QueueSummary[]> {
  const goesOn = useStore(isLive);
  const mustAsk = useStore(isAbsent);
  const isWatching = goesOn && !mustAsk;
  const [isAskedOnce, setIsAskedOnce] = useState(false);
  const asked = useLive(load, [], { isOn: mustAsk || isAskedOnce });
  const told = useStore(watched);
  const [began] = useState(() => watched.get());
  const seen = useRef<QueueSummary[] | undefined>(undefined);
  const taken = useRef<QueueSummary[] | undefined>(undefined);

  useEffect(() => {
    setIsAskedOnce(false);
    return isWatching ? watch() : refreshes.watch(() => setIsAskedOnce(true));
  }, [isWatching]);
  useEffect(() => refreshes.watch(tryNow), []);

  if (asked.value !== taken.current) {
    taken.current = asked.value;
    seen.current = asked.value;
  }
  if (!isWatching) return { ...asked, value: seen.current };
  // What was told before this page was opened may be old.
  if (told.isLive || told !== began) seen.current = told.all ?? seen.current;
  return { value: seen.current, refusal: told.isLive ? undefined : told.refusal, reload: tryNow };
}

/** When a queue has changed, for what is asked of it alone. */
export function useQueueNews(queue: string): News {
  useEffect(watch, []);
  return useMemo(() => ({
    at: () => (watched.get().isLive ? changedAt(queue) : Infinity),
    watch(listener) {
      const ends = [onChange(listener), watched.watch(listener)];
      return () => ends.forEach((end) => end());
    },
  }), [queue]);
}
