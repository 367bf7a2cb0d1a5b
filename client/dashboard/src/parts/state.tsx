// The state of a task, by word and colour.
import { stateName, word } from "../text/names";

export function State({ of }: { of: string | undefined }) {
  const name = stateName(of);
  return <span class={`state ${name}`}>{name}</span>;
}

export function Outcome({ of }: { of: string | undefined }) {
  const name = word(of, "ATTEMPT_OUTCOME_");
  return <span class={`state ${name}`}>{name}</span>;
}
