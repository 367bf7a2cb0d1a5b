// A refusal, where it happened.
import type { ComponentChildren } from "preact";
import type { Live } from "../api/live";
import type { Refusal } from "../api/refusal";

const WHAT_TO_DO: Record<string, string> = {
  ACCESS_DENIED: "Ask who runs this broker for a rule that allows it.",
  QUEUE_NOT_FOUND: "It may have another name.",
};

export function Failure({ of, children }:
  { of: Refusal | undefined | null; children?: ComponentChildren }) {
  if (!of) return null;
  return (
    <div class="failure" role="alert">
      <p>
        <bdi>{of.message}</bdi>
        {of.reason && <> <code>{of.reason}</code></>}
        {of.field && <> Field: <code><bdi>{of.field}</bdi></code></>}
      </p>
      {WHAT_TO_DO[of.reason] && <p>{WHAT_TO_DO[of.reason]}</p>}
      {children}
    </div>
  );
}

/** What a page shows of what it asks for again and again: while nothing has come, why; afterwards
 * what came last, with a refusal above it. The line at the top tells of a broker that is away. */
export function Shown<T>({ live, children }:
  { live: Live<T>; children: (value: T) => ComponentChildren }) {
  const { value, refusal } = live;
  if (value === undefined) {
    return refusal ? <Failure of={refusal} /> : <p class="waiting">Loading…</p>;
  }
  return (
    <>
      {refusal && !refusal.isAway && <Failure of={refusal} />}
      {children(value)}
    </>
  );
}
