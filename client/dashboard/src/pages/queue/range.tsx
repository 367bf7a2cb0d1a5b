// Chooses how far back a plot goes. The choice is in the address.
import { setQuery } from "../../app/router";

export interface Range {
  name: string;
  title: string;
  seconds: number;
  step: number;
}

export function rangeOf(ranges: Range[], name: string | null): Range {
  return ranges.find((range) => range.name === name) ?? ranges[0]!;
}

export function RangeChoice({ field, ranges, value, label }:
  { field: string; ranges: Range[]; value: Range; label: string }) {
  return (
    <div class="choice" role="group" aria-label={label}>
      {ranges.map((range) => (
        <button key={range.name} type="button" aria-pressed={range === value}
          onClick={() => setQuery(
            { [field]: range === ranges[0] ? undefined : range.name }, true)}>
          {range.title}
        </button>
      ))}
    </div>
  );
}

/** The beginnings of all steps of a range: those in which nothing happened have no entry. */
export function stepsOf(range: Range, end: number): number[] {
  const last = Math.floor(end / 1000 / range.step) * range.step;
  const steps = Math.round(range.seconds / range.step);
  return Array.from({ length: steps }, (_, index) => last - (steps - 1 - index) * range.step);
}
