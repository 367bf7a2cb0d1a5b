// The form of the filter. What it has goes into the address when it is sent.
import { useState } from "preact/hooks";
import { setQuery, usePlace } from "../../app/router";
import { Check, Field, Select, type InputType } from "../../parts/field";
import { STATES, stateName } from "../../text/names";
import { hasMore, readDraft, readFilter, toQuery, type Draft, type Problems } from "./filter";

type TextName = Exclude<keyof Draft, "state" | "headers" | "periodic">;

const MORE: [TextName, string, string?, InputType?][] = [
  ["stage", "Stage"],
  ["error_type", "Error type"],
  ["fingerprint", "Error group", "Its fingerprint"],
  ["min_attempts", "Attempts at least"],
  ["priority", "Priority"],
  ["min_age", "Older than", "As 90s, 5m, 1h 30m"],
  ["max_age", "Younger than"],
  ["from", "Enqueued from", undefined, "datetime-local"],
  ["to", "Enqueued before", undefined, "datetime-local"],
  ["worker", "Held by worker", "Its handle"],
];

export function FilterForm({ hasQueues, mayReadPayload }:
  { hasQueues: boolean; mayReadPayload: boolean }) {
  const { query } = usePlace();
  const [draft, setDraft] = useState<Draft>(() => readDraft(query));
  const [problems, setProblems] = useState<Problems>({});
  const put = (name: keyof Draft) => (value: string) => setDraft({ ...draft, [name]: value });

  function apply(event: Event) {
    event.preventDefault();
    const found = readFilter(draft).problems;
    setProblems(found);
    if (Object.keys(found).length === 0) setQuery({ ...toQuery(draft) });
  }

  const text = ([name, label, help, type]: [TextName, string, string?, InputType?]) => (
    <Field key={name} id={`filter-${name}`} label={label} value={draft[name]} onInput={put(name)}
      help={help} type={type} problem={problems[name]} />
  );
  return (
    <form class="filter" role="search" aria-label="Filter of tasks" onSubmit={apply}>
      <div class="bar">
        {hasQueues && text(["queue", "Queues", "Their names, with commas; empty for all"])}
        <States of={draft.state} onInput={(state) => setDraft({ ...draft, state })} />
        {text(["key", "Key begins with"])}
        <Select id="filter-order" label="Order" value={query.get("order") ?? "newest"}
          choices={[["newest", "Newest first"], ["oldest", "Oldest first"]]}
          onInput={(order) => setQuery({
            order: order === "newest" ? undefined : order, after: undefined })} />
        <button type="submit" class="main">Filter</button>
      </div>
      <details open={hasMore(draft)}>
        <summary>More filters</summary>
        <div class="fields">
          {MORE.map(text)}
          <Select id="filter-periodic" label="Periodic" value={draft.periodic}
            choices={[["", "any"], ["yes", "only periodic"], ["no", "without periodic"]]}
            onInput={put("periodic")} />
          {text(["ids", "Task ids", "With commas"])}
          {mayReadPayload && text(["payload", "Payload has", "Slow: payloads are read"])}
          {mayReadPayload && (
            <Field id="filter-headers" label="Headers" rows={2} value={draft.headers}
              onInput={put("headers")} help="One per line, as name: value"
              problem={problems.headers} />
          )}
        </div>
      </details>
    </form>
  );
}

function States({ of, onInput }: { of: string[]; onInput: (states: string[]) => void }) {
  return (
    <fieldset class="states">
      <legend>States</legend>
      <div>
        {STATES.map((state) => {
          const name = state.replace("TASK_STATE_", "");
          return (
            <Check key={name} id={`filter-state-${name}`} label={stateName(state)}
              isOn={of.includes(name)}
              onInput={(isOn) => onInput(
                isOn ? [...of, name] : of.filter((other) => other !== name))} />
          );
        })}
      </div>
    </fieldset>
  );
}
