// Enqueues a task from the page.
import { useState } from "preact/hooks";
import { change } from "../../api/call";
import type { Queue } from "../../api/messages/queue";
import type { TaskState } from "../../api/messages/task";
import { asRefusal, type Refusal } from "../../api/refusal";
import { toTask as addressOf } from "../../app/router";
import { Failure } from "../../parts/failure";
import { Field, Select } from "../../parts/field";
import { stateName, word } from "../../text/names";
import { EMPTY, toTask, type EnqueueDraft, type Problems } from "./enqueue_draft";
import { More } from "./enqueue_more";

interface Result {
  taskId: string;
  outcome: string;
  state: TaskState;
}

export function EnqueueForm({ of }: { of: Queue }) {
  const [draft, setDraft] = useState(EMPTY);
  const [problems, setProblems] = useState<Problems>({});
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  const [result, setResult] = useState<Result | null>(null);
  const [isBusy, setIsBusy] = useState(false);
  const put = (name: keyof EnqueueDraft) => (text: string) =>
    setDraft((before) => ({ ...before, [name]: text }));

  async function send(event: Event) {
    event.preventDefault();
    const made = toTask(draft);
    setProblems(made.problems);
    setRefusal(null);
    setResult(null);
    if (Object.keys(made.problems).length > 0) return;
    setIsBusy(true);
    try {
      const { results } = await change<{ results: Result[] }>(
        "Enqueue", { queue: of.name, tasks: [made.task] }, "BrokerService");
      setResult(results[0]!);
    } catch (error) {
      setRefusal(asRefusal(error));
    }
    setIsBusy(false);
  }

  return (
    <form class="enqueue" onSubmit={send} aria-label="Enqueue a task">
      <Field id="enqueue-payload" label="Payload" rows={8} isWide value={draft.payload}
        onInput={put("payload")} problem={problems.payload} />
      <div class="fields">
        <Select id="enqueue-form" label="It is" value={draft.form} onInput={put("form")}
          choices={[["text", "text"], ["json", "JSON, checked"], ["base64", "base64"],
            ["hex", "hex"]]} />
        <Field id="enqueue-content-type" label="Content type" value={draft.contentType}
          onInput={put("contentType")} help="As application/json" />
        <Field id="enqueue-key" label="Key" value={draft.key} onInput={put("key")}
          problem={problems.key} />
        <Field id="enqueue-priority" label="Priority" value={draft.priority}
          onInput={put("priority")} help="Smaller is more urgent" problem={problems.priority} />
        <Field id="enqueue-delay" label="Delay" value={draft.delay} onInput={put("delay")}
          help="As 90s, 5m, 1h 30m" problem={problems.delay} />
      </div>
      <More draft={draft} put={put} problems={problems}
        stages={(of.settings.stages ?? []).map((stage) => stage.name)} />
      <Failure of={refusal} />
      <div role="status">
        {result && (
          <p class="made">
            Task <a href={addressOf(result.taskId)}>{result.taskId}</a> is{" "}
            {stateName(result.state)}: {word(result.outcome, "ENQUEUE_OUTCOME_")}.
          </p>
        )}
      </div>
      <div class="buttons">
        <button type="submit" class="main" disabled={isBusy}>Enqueue</button>
        <button type="button" onClick={() => setDraft(EMPTY)}>Empty the form</button>
      </div>
    </form>
  );
}
