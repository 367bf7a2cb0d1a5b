// Durations: the API has "90s" or "0.25s"; people write "1m 30s".

const UNITS: [string, number][] = [["d", 86_400], ["h", 3600], ["m", 60], ["s", 1]];
const PART = /(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)\s*/gy;
const SECONDS: Record<string, number> = { ms: 0.001, s: 1, m: 60, h: 3600, d: 86_400 };

export function seconds(text: string | undefined): number {
  return text ? Number(text.replace(/s$/, "")) : 0;
}

/** The two largest units: "3 d 4 h". */
export function duration(value: number): string {
  if (value < 0.0005) return "0 s";
  if (value < 1) return `${Math.round(value * 1000)} ms`;
  if (value < 10 && value % 1 !== 0) return `${value.toFixed(1)} s`;
  let rest = Math.round(value);
  const parts: string[] = [];
  for (const [unit, length] of UNITS) {
    const amount = Math.floor(rest / length);
    rest -= amount * length;
    if (amount > 0) parts.push(`${amount} ${unit}`);
    else if (parts.length > 0) break;
    if (parts.length === 2) break;
  }
  return parts.join(" ");
}

export function age(text: string | undefined): string {
  const value = seconds(text);
  return value > 0 ? duration(value) : "–";
}

/** For a field in which it can be changed: exact, "1h 30m". */
export function durationField(text: string | undefined): string {
  if (!text) return "";
  const value = seconds(text);
  if (value === 0) return "0s";
  if (value % 1 !== 0) return `${value}s`;
  let rest = value;
  return UNITS.flatMap(([unit, length]) => {
    const amount = Math.floor(rest / length);
    rest -= amount * length;
    return amount > 0 ? [`${amount}${unit}`] : [];
  }).join(" ");
}

/** What somebody typed, for the API; throws a text for people. A bare number is in seconds. */
export function parseDuration(text: string): string {
  const trimmed = text.trim().toLowerCase();
  if (/^\d+(\.\d+)?$/.test(trimmed)) return `${Number(trimmed)}s`;
  let total = 0;
  let end = 0;
  PART.lastIndex = 0;
  for (let part = PART.exec(trimmed); part; part = PART.exec(trimmed)) {
    total += Number(part[1]) * SECONDS[part[2] as string]!;
    end = PART.lastIndex;
  }
  if (trimmed === "" || end !== trimmed.length) {
    throw new Error(`“${text}” is not a duration: write it as 90s, 5m or 1h 30m.`);
  }
  return `${Math.round(total * 1e6) / 1e6}s`;
}
