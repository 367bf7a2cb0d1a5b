// Points in time: the API has RFC 3339 in UTC, pages show the reader's own zone.
import { now } from "../api/clock";
import { duration } from "./duration";

const FULL = new Intl.DateTimeFormat("sv", {
  year: "numeric", month: "2-digit", day: "2-digit",
  hour: "2-digit", minute: "2-digit", second: "2-digit",
});

export function local(text: string): string {
  return FULL.format(new Date(text));
}

/** "3 m ago" or "in 2 h". */
export function relative(text: string): string {
  const distance = (Date.parse(text) - now()) / 1000;
  if (Math.abs(distance) < 1) return "now";
  const whole = duration(Math.round(Math.abs(distance)));
  return distance < 0 ? `${whole} ago` : `in ${whole}`;
}

/** For <input type="datetime-local">, in the reader's zone. */
export function timeField(text: string | undefined): string {
  return text ? local(text).replace(" ", "T") : "";
}

/** What such a field holds, for the API. */
export function parseTime(field: string): string {
  const date = new Date(field);
  if (Number.isNaN(date.getTime())) throw new Error(`“${field}” is not a date with a time.`);
  return date.toISOString();
}
