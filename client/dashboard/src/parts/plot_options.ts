// How a plot looks, and what it draws.
import uPlot from "uplot";

export interface Series {
  label: string;
  /** A custom property of the style sheet: it differs in light and dark. */
  color: string;
  values: (number | null)[];
}

export interface PlotProps {
  title: string;
  /** Seconds since 1970. */
  times: number[];
  series: Series[];
  format: (value: number) => string;
  isBars?: boolean;
  /** Values are whole numbers: the axis has no halves. */
  isWhole?: boolean;
}

export const HEIGHT = 180;
const WHOLE_STEPS = [1, 2, 5].flatMap((first) =>
  Array.from({ length: 9 }, (_, zeros) => first * 10 ** zeros)).sort((one, two) => one - two);
const POINTS_MAX = 100;
const DAY_S = 86_400;
const HOUR = new Intl.DateTimeFormat("sv", { hour: "2-digit", minute: "2-digit" });
const DATE = new Intl.DateTimeFormat("sv", { month: "2-digit", day: "2-digit" });
export const dark = matchMedia("(prefers-color-scheme: dark)");

function colorOf(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function timeLabels(_: uPlot, splits: number[], _axis: number, _space: number, step: number) {
  return splits.map((time) => (step >= DAY_S ? DATE : HOUR).format(new Date(time * 1000)));
}

function options(props: PlotProps, width: number): uPlot.Options {
  const { series, format, isBars, isWhole } = props;
  const grid = { stroke: colorOf("--line"), width: 1 };
  const axis = { stroke: colorOf("--quiet"), grid, ticks: grid, font: "11px system-ui" };
  return {
    width,
    height: HEIGHT,
    legend: { show: true, live: true },
    cursor: { y: false },
    scales: { y: { range: (_plot, _least, most) => [0, most > 0 ? most * 1.05 : 1] } },
    axes: [
      { ...axis, values: timeLabels },
      { ...axis, size: 64, values: (_plot, splits) => splits.map(format),
        incrs: isWhole ? WHOLE_STEPS : undefined },
    ],
    series: [
      { value: "{YYYY}-{MM}-{DD} {HH}:{mm}" },
      ...series.map((one) => ({
        label: one.label,
        stroke: colorOf(one.color),
        width: isBars ? 0 : 1.5,
        fill: isBars ? colorOf(one.color) : undefined,
        paths: isBars ? uPlot.paths.bars!({ size: [0.7, 24] }) : undefined,
        // One value between gaps has no line.
        points: { show: !isBars && one.values.length <= POINTS_MAX, size: 4 },
        spanGaps: false,
        value: (_plot: uPlot, value: number | null) => (value == null ? "–" : format(value)),
      })),
    ],
  };
}

export function dataOf(props: PlotProps): uPlot.AlignedData {
  return [props.times, ...props.series.map((one) => one.values)] as uPlot.AlignedData;
}

export function draw(place: HTMLElement, props: PlotProps): uPlot {
  return new uPlot(options(props, place.clientWidth || 600), dataOf(props), place);
}
