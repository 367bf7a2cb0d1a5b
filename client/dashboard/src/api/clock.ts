// The broker's clock, as its answers tell it to the second: a browser whose clock is wrong would
// show wrong ages.

const SMALL_MS = 3000; // the field has whole seconds, and the answer took a while
let offset = 0;

export function noteDate(text: string | null): void {
  const date = text ? Date.parse(text) : NaN;
  if (Number.isNaN(date)) return;
  const found = date - Date.now();
  offset = Math.abs(found) < SMALL_MS ? 0 : found;
}

export function now(): number {
  return Date.now() + offset;
}
