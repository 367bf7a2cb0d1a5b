// Whether the broker answers, as the last call found.
import { makeStore } from "./store";

/** Why it does not; null while it does. */
export const away = makeStore<string | null>(null);

export function noteAnswer(): void {
  away.set(null);
}

export function noteAway(why: string): void {
  away.set(why);
}
