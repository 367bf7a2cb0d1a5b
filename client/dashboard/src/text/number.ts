// Numbers for people. Counts come as text, because they may have 64 bits.

const WHOLE = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const UNITS = ["B", "KiB", "MiB", "GiB", "TiB"];

export function number(value: string | number | undefined): number {
  return Number(value ?? 0);
}

export function count(value: string | number | undefined): string {
  return WHOLE.format(number(value));
}

/** A rate in a second; three digits are enough. */
export function rate(value: number | undefined): string {
  const found = value ?? 0;
  if (found === 0) return "0";
  if (found < 0.01) return "<0.01";
  if (found < 10) return found.toFixed(2);
  return found < 100 ? found.toFixed(1) : WHOLE.format(found);
}

export function bytes(value: string | number | undefined): string {
  let rest = number(value);
  let unit = 0;
  while (rest >= 1024 && unit < UNITS.length - 1) {
    rest /= 1024;
    unit += 1;
  }
  return `${unit === 0 || rest >= 100 ? WHOLE.format(rest) : rest.toFixed(1)} ${UNITS[unit]}`;
}

export function plural(amount: number, one: string, many = `${one}s`): string {
  return `${WHOLE.format(amount)} ${amount === 1 ? one : many}`;
}
