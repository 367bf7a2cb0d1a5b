// The value that an action asks for.
import { Field } from "../../parts/field";
import type { Asks } from "./actions";

export function ActionValue({ id, asks, value, onInput }:
  { id: string; asks: Asks; value: string; onInput: (value: string) => void }) {
  if (asks === "priority") {
    return <Field id={id} label="Priority" value={value} onInput={onInput}
      help="-32768 to 32767; smaller is more urgent" />;
  }
  if (asks === "time") {
    return <Field id={id} label="Run at" type="datetime-local" value={value}
      onInput={onInput} help="In your time zone; a time in the past means now" />;
  }
  return <Field id={id} label="Postpone by" value={value} onInput={onInput}
    help="As 90s, 5m, 1h 30m" />;
}
