// Who is logged in, and what that one may do. The broker decides; the page only hides what would be
// refused.
import type { WhoAmI } from "./messages/report";
import { makeStore, useStore } from "./store";

export type Verb = "ENQUEUE" | "LEASE" | "READ" | "READ_PAYLOAD" | "OPERATE" | "ADMIN";

export const who = makeStore<WhoAmI | null>(null);

/** As the broker's rules: `*` is any text, `?` one byte. */
function matches(pattern: string, queue: string): boolean {
  const parts = pattern.replace(/[.+^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`^${parts.replace(/\*/g, ".*").replace(/\?/g, ".")}$`, "s").test(queue);
}

/** Without a queue: on all of them. */
export function may(whoAmI: WhoAmI | null, verb: Verb, queue?: string): boolean {
  const patterns = whoAmI?.grants?.find((grant) => grant.verb === `VERB_${verb}`)?.queues ?? [];
  return patterns.some((pattern) =>
    queue === undefined ? /^\*+$/.test(pattern) : matches(pattern, queue));
}

export function useMay(): (verb: Verb, queue?: string) => boolean {
  const me = useStore(who);
  return (verb, queue) => may(me, verb, queue);
}
