// How attempts ended, by hour.
import { admin } from "../../api/call";
import { now } from "../../api/clock";
import { useLive } from "../../api/live";
import type { HourStatistics } from "../../api/messages/report";
import { usePlace } from "../../app/router";
import { Shown } from "../../parts/failure";
import { Section } from "../../parts/page";
import { Plot } from "../../parts/plot";
import type { Series } from "../../parts/plot_options";
import { count, number } from "../../text/number";
import { word } from "../../text/names";
import { rangeOf, RangeChoice, stepsOf, type Range } from "./range";

const HOUR = 3600;
const RANGES: Range[] = [
  { name: "24h", title: "24 h", seconds: 24 * HOUR, step: HOUR },
  { name: "7d", title: "7 days", seconds: 7 * 24 * HOUR, step: HOUR },
  { name: "30d", title: "30 days", seconds: 30 * 24 * HOUR, step: HOUR },
];
const PERIOD_MS = 15_000;
const OUTCOMES: [string, string][] = [
  ["ATTEMPT_OUTCOME_SUCCEEDED", "--plot-1"], ["ATTEMPT_OUTCOME_RETRIED", "--plot-2"],
  ["ATTEMPT_OUTCOME_FAILED", "--plot-3"], ["ATTEMPT_OUTCOME_LOST", "--plot-4"],
  ["ATTEMPT_OUTCOME_CANCELLED", "--plot-5"], ["ATTEMPT_OUTCOME_HANGED", "--plot-6"],
];

interface Answer {
  hours?: HourStatistics[];
  nextPageToken?: string;
}

async function load(queue: string, stage: string, range: Range, signal: AbortSignal) {
  const times = stepsOf(range, now());
  const startTime = new Date(times[0]! * 1000).toISOString();
  const hours: HourStatistics[] = [];
  let pageToken = "";
  do {
    const answer: Answer = await admin("GetStatistics", { queue, stage, startTime, pageToken },
      signal);
    hours.push(...(answer.hours ?? []));
    pageToken = answer.nextPageToken ?? "";
  } while (pageToken);
  return { times, hours };
}

function seriesOf(times: number[], hours: HourStatistics[]): Series[] {
  const known = new Set(hours.map((hour) => hour.outcome));
  return OUTCOMES.filter(([outcome], index) => index === 0 || known.has(outcome)).map(
    ([outcome, color]) => {
      const counts = new Map<number, number>();
      for (const hour of hours) {
        if (hour.outcome !== outcome) continue;
        const time = Date.parse(hour.startTime) / 1000;
        counts.set(time, (counts.get(time) ?? 0) + number(hour.attemptCount));
      }
      return {
        label: word(outcome, "ATTEMPT_OUTCOME_"),
        color,
        values: times.map((time) => counts.get(time) ?? 0),
      };
    });
}

export function Hours({ queue, stage }: { queue: string; stage: string }) {
  const range = rangeOf(RANGES, usePlace().query.get("hours"));
  const live = useLive((signal) => load(queue, stage, range, signal),
    [queue, stage, range.name], { period: PERIOD_MS });
  return (
    <Section title="How attempts ended, by hour"
      aside={<RangeChoice field="hours" ranges={RANGES} value={range} label="Range of hours" />}>
      <Shown live={live}>
        {({ times, hours }) => (
          <Plot title="Attempts by outcome" times={times} format={count} isWhole
            series={seriesOf(times, hours)} />
        )}
      </Shown>
    </Section>
  );
}
