// Fields of forms: a label, a control, and what to know about it.
import type { ComponentChildren } from "preact";

// Not "number": such fields hide from the page what cannot be read as one.
export type InputType = "text" | "search" | "datetime-local";

interface Props {
  id: string;
  label: string;
  value: string;
  onInput: (value: string) => void;
  help?: ComponentChildren;
  problem?: string;
  type?: InputType;
  list?: string;
  rows?: number;
  isWide?: boolean;
  isDisabled?: boolean;
}

export function Field({ id, label, value, onInput, help, problem, rows, isWide, ...rest }: Props) {
  const about = [help && `${id}-help`, problem && `${id}-problem`].filter(Boolean).join(" ");
  const shared = {
    id,
    value,
    "aria-describedby": about || undefined,
    "aria-invalid": problem ? true : undefined,
    disabled: rest.isDisabled,
    spellcheck: false,
    onInput: (event: Event) => onInput((event.target as HTMLInputElement).value),
  };
  return (
    <div class={isWide ? "field wide" : "field"}>
      <label for={id}>{label}</label>
      {rows
        ? <textarea {...shared} rows={rows} dir="auto" />
        : <input {...shared} type={rest.type ?? "text"} list={rest.list} autocomplete="off"
            step={rest.type === "datetime-local" ? 1 : undefined} />}
      {help && <p class="help" id={`${id}-help`}>{help}</p>}
      {problem && <p class="problem" id={`${id}-problem`} role="alert">{problem}</p>}
    </div>
  );
}

export type Choice = [value: string, label: string];

export function Select({ id, label, value, onInput, choices, isDisabled, help }:
  { id: string; label: string; value: string; onInput: (value: string) => void;
    choices: Choice[]; isDisabled?: boolean; help?: ComponentChildren }) {
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select id={id} value={value} disabled={isDisabled}
        aria-describedby={help ? `${id}-help` : undefined}
        onChange={(event) => onInput((event.target as HTMLSelectElement).value)}>
        {choices.map(([choice, name]) => (
          <option key={choice} value={choice} selected={choice === value}>{name}</option>
        ))}
      </select>
      {help && <p class="help" id={`${id}-help`}>{help}</p>}
    </div>
  );
}

export function Check({ id, label, isOn, onInput, isDisabled }:
  { id: string; label: string; isOn: boolean; onInput: (isOn: boolean) => void;
    isDisabled?: boolean }) {
  return (
    <div class="check">
      <input id={id} type="checkbox" checked={isOn} disabled={isDisabled}
        onChange={(event) => onInput((event.target as HTMLInputElement).checked)} />
      <label for={id}>{label}</label>
    </div>
  );
}
