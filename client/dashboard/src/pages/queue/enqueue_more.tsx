// The fields of a new task that are seldom needed.
import { useState } from "preact/hooks";
import { admin } from "../../api/call";
import { asRefusal } from "../../api/refusal";
import { Field, Select, type Choice, type InputType } from "../../parts/field";
import { Time } from "../../parts/time";
import { parseDuration } from "../../text/duration";
import type { EnqueueDraft, Problems } from "./enqueue_draft";

const POLICIES: Choice[] = [
  ["", "keep the known task"],
  ["KEY_POLICY_KEEP_UNFINISHED", "keep it while it is unfinished"],
  ["KEY_POLICY_REPLACE_WAITING", "replace a waiting one"],
  ["KEY_POLICY_RERUN_IF_NEWER", "run again if newer"],
  ["KEY_POLICY_REJECT", "refuse"],
  ["KEY_POLICY_SCHEDULE", "declare a schedule"],
];

interface Props {
  draft: EnqueueDraft;
  put: (name: keyof EnqueueDraft) => (text: string) => void;
  problems: Problems;
  stages: string[];
}

const FIELDS: [keyof EnqueueDraft, string, string?, InputType?][] = [
  ["time", "Schedule time", "Instead of a delay", "datetime-local"],
  ["maxAttempts", "Attempts", "Empty: as the queue"],
  ["version", "Version", "Needs a key"],
  ["period", "Period", "Makes it periodic: as 15m"],
  ["cron", "Cron", "Makes it periodic: as 0 6 * * 1-5"],
  ["timeZone", "Time zone of cron", "As Europe/Berlin; empty: UTC"],
];

export function More({ draft, put, problems, stages }: Props) {
  return (
    <details>
      <summary>More fields</summary>
      <div class="fields">
        <Select id="enqueue-key-policy" label="If the key is known" value={draft.keyPolicy}
          onInput={put("keyPolicy")} choices={POLICIES} />
        {stages.length > 0 && (
          <Select id="enqueue-stage" label="Stage" value={draft.stage} onInput={put("stage")}
            choices={[["", "the first"], ...stages.map((name): Choice => [name, name])]} />
        )}
        {FIELDS.map(([name, label, help, type]) => (
          <Field key={name} id={`enqueue-${name}`} label={label} help={help} type={type}
            value={draft[name]} onInput={put(name)} problem={problems[name]} />
        ))}
        <Field id="enqueue-headers" label="Headers" rows={3} value={draft.headers}
          onInput={put("headers")} help="One per line, as name: value"
          problem={problems.headers} />
      </div>
      {(draft.cron || draft.period) && <Preview of={draft} />}
    </details>
  );
}

/** When a schedule would run: a cron line is easily wrong. */
function Preview({ of }: { of: EnqueueDraft }) {
  const [times, setTimes] = useState<string[]>([]);
  const [problem, setProblem] = useState("");

  async function show() {
    try {
      const schedule = of.cron
        ? { cron: of.cron.trim(), timeZone: of.timeZone.trim() || undefined }
        : { period: parseDuration(of.period) };
      const answer = await admin<{ plannedTimes?: string[] }>(
        "PreviewSchedule", { ...schedule, count: 5 });
      setTimes(answer.plannedTimes ?? []);
      setProblem("");
    } catch (error) {
      setTimes([]);
      setProblem(asRefusal(error).message);
    }
  }

  return (
    <div role="status">
      <button type="button" onClick={() => void show()}>Show the next planned times</button>
      {problem && <p class="problem"><bdi>{problem}</bdi></p>}
      <ul class="times">{times.map((time) => <li key={time}><Time at={time} isFull /></li>)}</ul>
    </div>
  );
}
