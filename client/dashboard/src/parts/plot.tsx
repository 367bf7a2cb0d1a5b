// A plot over time by uPlot. It draws on a canvas, so a table says the same for who cannot see it.
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import { dark, dataOf, draw, HEIGHT, type PlotProps } from "./plot_options";
import { Table } from "./table";

export function Plot(props: PlotProps) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const latest = useRef(props);
  latest.current = props;
  const lines = props.series.map((one) => one.label).join("\n");
  const shown = JSON.stringify([props.times, props.series]);

  useEffect(() => {
    const again = () => {
      plot.current?.destroy();
      plot.current = draw(place.current!, latest.current);
    };
    again();
    const watcher = new ResizeObserver(() => {
      const width = place.current?.clientWidth ?? 0;
      if (width > 0 && width !== plot.current!.width) {
        plot.current!.setSize({ width, height: HEIGHT });
      }
    });
    watcher.observe(place.current!);
    dark.addEventListener("change", again);
    return () => {
      watcher.disconnect();
      dark.removeEventListener("change", again);
      plot.current?.destroy();
      plot.current = null;
    };
  }, [lines]);
  // Not drawn anew: who points at a value goes on reading it.
  useEffect(() => plot.current?.setData(dataOf(props)), [shown]);

  return (
    <figure class="plot">
      <figcaption>{props.title}</figcaption>
      <div ref={place} role="img"
        aria-label={`${props.title}, as a plot. The table below has the same.`} />
      <details>
        <summary>As a table</summary>
        <Values {...props} />
      </details>
    </figure>
  );
}

function Values({ title, times, series, format }: PlotProps) {
  const columns = [{ name: "time", title: "Time" },
    ...series.map(({ label }) => ({ name: label, title: label, isNumber: true }))];
  return (
    <Table label={title} columns={columns}>
      {times.map((time, index) => (
        <tr key={time}>
          <td>{new Date(time * 1000).toLocaleString("sv").slice(0, 16)}</td>
          {series.map(({ label, values }) => (
            <td key={label} class="number">
              {values[index] == null ? "–" : format(values[index]!)}
            </td>
          ))}
        </tr>
      ))}
    </Table>
  );
}
