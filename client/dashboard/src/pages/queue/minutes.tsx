// How many attempts ended, and how long they waited and ran, of the last hours.
import { admin } from "../../api/call";
import { now } from "../../api/clock";
import { useLive } from "../../api/live";
import type { MinuteStatistics, TimeSummary } from "../../api/messages/report";
import { usePlace } from "../../app/router";
import { Shown } from "../../parts/failure";
import { Section } from "../../parts/page";
import { Plot } from "../../parts/plot";
import { Table } from "../../parts/table";
import { duration, seconds } from "../../text/duration";
import { count, number } from "../../text/number";
import { rangeOf, RangeChoice, stepsOf, type Range } from "./range";

const RANGES: Range[] = [
  { name: "1h", title: "1 h", seconds: 3600, step: 60 },
  { name: "6h", title: "6 h", seconds: 6 * 3600, step: 300 },
  { name: "24h", title: "24 h", seconds: 24 * 3600, step: 900 },
  { name: "48h", title: "48 h", seconds: 48 * 3600, step: 1800 },
];
const PERIOD_MS = 15_000;
const COLUMNS = [
  { name: "what", title: "Time" },
  { name: "count", title: "Attempts", isNumber: true },
  { name: "p50", title: "p50", isNumber: true },
  { name: "p95", title: "p95", isNumber: true },
  { name: "p99", title: "p99", isNumber: true },
];

interface Answer {
  minutes?: MinuteStatistics[];
  total?: MinuteStatistics;
  nextPageToken?: string;
}

async function load(queue: string, stage: string, range: Range, signal: AbortSignal) {
  const times = stepsOf(range, now());
  const request = {
    queue, stage, startTime: new Date(times[0]! * 1000).toISOString(), step: `${range.step}s`,
  };
  const minutes: MinuteStatistics[] = [];
  let total: MinuteStatistics | undefined;
  let pageToken = "";
  do {
    const answer: Answer = await admin("GetMinuteStatistics", { ...request, pageToken }, signal);
    minutes.push(...(answer.minutes ?? []));
    total ??= answer.total;
    pageToken = answer.nextPageToken ?? "";
  } while (pageToken);
  return { times, minutes, total };
}

type Loaded = Awaited<ReturnType<typeof load>>;

export function Minutes({ queue, stage }: { queue: string; stage: string }) {
  const range = rangeOf(RANGES, usePlace().query.get("minutes"));
  const live = useLive((signal) => load(queue, stage, range, signal),
    [queue, stage, range.name], { period: PERIOD_MS });
  return (
    <Section title="How long attempts waited and ran"
      aside={<RangeChoice field="minutes" ranges={RANGES} value={range} label="Range" />}>
      <Shown live={live}>{(loaded) => <Told of={loaded} step={range.step} />}</Shown>
    </Section>
  );
}

/** One value per step. Where a queue has stages, the slowest of them in that step. */
function slowest(of: Loaded, pick: (minute: MinuteStatistics) => string | undefined) {
  const found = new Map<number, number>();
  for (const minute of of.minutes) {
    const text = pick(minute);
    const time = Date.parse(minute.startTime) / 1000;
    if (text) found.set(time, Math.max(found.get(time) ?? 0, seconds(text)));
  }
  return of.times.map((time) => found.get(time) ?? null);
}

function ended(of: Loaded): number[] {
  const found = new Map<number, number>();
  for (const minute of of.minutes) {
    const time = Date.parse(minute.startTime) / 1000;
    found.set(time, (found.get(time) ?? 0) + number(minute.run?.count));
  }
  return of.times.map((time) => found.get(time) ?? 0);
}

function Told({ of, step }: { of: Loaded; step: number }) {
  const times = (what: "run" | "wait") => [
    { label: "p50", color: "--plot-1", values: slowest(of, (minute) => minute[what]?.p50) },
    { label: "p95", color: "--plot-2", values: slowest(of, (minute) => minute[what]?.p95) },
    { label: "p99", color: "--plot-3", values: slowest(of, (minute) => minute[what]?.p99) },
  ];
  return (
    <>
      <Table label="Percentiles" columns={COLUMNS}>
        <Summary title="Waited" of={of.total?.wait} />
        <Summary title="Ran" of={of.total?.run} />
      </Table>
      {of.minutes.length === 0 && (
        <p class="none">No attempt is recorded of this time. The last minute comes a little later.
        </p>
      )}
      <div class="plots" hidden={of.minutes.length === 0}>
        <Plot title={`Attempts that ended, by ${duration(step)}`} times={of.times} format={count}
          isBars isWhole series={[{ label: "ended", color: "--plot-1", values: ended(of) }]} />
        <Plot title="Ran" times={of.times} series={times("run")} format={duration} />
        <Plot title="Waited" times={of.times} series={times("wait")} format={duration} />
      </div>
    </>
  );
}

function Summary({ title, of }: { title: string; of: TimeSummary | undefined }) {
  const hasAny = number(of?.count) > 0;
  const cell = (text: string | undefined) => (hasAny ? duration(seconds(text)) : "–");
  return (
    <tr>
      <th scope="row">{title}</th>
      <td class="number">{count(of?.count)}</td>
      <td class="number">{cell(of?.p50)}</td>
      <td class="number">{cell(of?.p95)}</td>
      <td class="number">{cell(of?.p99)}</td>
    </tr>
  );
}
