// Counts one after the other as a small curve, for a row of a table.
const WIDTH = 120;
const HEIGHT = 20;

function path(counts: number[]): string {
  const most = Math.max(...counts, 1);
  const last = Math.max(counts.length - 1, 1);
  const point = (value: number, index: number) =>
    `${((index * WIDTH) / last).toFixed(1)} ` +
    `${(HEIGHT - 1 - (value / most) * (HEIGHT - 2)).toFixed(1)}`;
  return `M${counts.map(point).join("L")}`;
}

/** The label says for who cannot see it what the curve tells. */
export function Curve({ counts, label }: { counts: number[]; label: string }) {
  return (
    <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} width={WIDTH} height={HEIGHT} role="img"
      aria-label={label}>
      <title>{label}</title>
      <path d={path(counts)} />
    </svg>
  );
}
