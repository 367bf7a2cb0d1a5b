// Begins a change of all tasks that match the filter. They are counted first; the page of that
// operation offers to do it.
import { useState } from "preact/hooks";
import { change } from "../../api/call";
import type { OperationResponse, TaskFilter } from "../../api/messages/bulk";
import { asRefusal, type Refusal } from "../../api/refusal";
import { navigate, to } from "../../app/router";
import { Failure } from "../../parts/failure";
import { Select } from "../../parts/field";
import { Section } from "../../parts/page";
import { ActionValue } from "./action_value";
import { ACTIONS } from "./actions";

const CHOICES = ACTIONS.filter((action) => action.bulk);
const FINISHED = ["TASK_STATE_SUCCEEDED", "TASK_STATE_CANCELLED"];

function whyNot(queues: string[], filter: TaskFilter): string {
  if (queues.length !== 1) return "Choose one queue: a change is made in one queue at a time.";
  if (filter.states?.some((state) => FINISHED.includes(state))) {
    return "Succeeded and cancelled tasks cannot be changed: leave these states out.";
  }
  return "";
}

export function ChangeAll({ queues, filter }: { queues: string[]; filter: TaskFilter }) {
  const [name, setName] = useState("retry");
  const [value, setValue] = useState("");
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  const action = CHOICES.find((choice) => choice.name === name)!;
  const problem = whyNot(queues, filter);

  async function begin(event: Event) {
    event.preventDefault();
    setRefusal(null);
    try {
      const isAll = Object.keys(filter).length === 0;
      const { operation } = await change<OperationResponse>("StartBulkOperation", {
        filter: { ...filter, queue: queues[0], all: isAll },
        action: action.bulk!(value),
        dryRun: true,
        wait: "0s",
      });
      navigate(to(["operations", operation.operationId]));
    } catch (error) {
      setRefusal(asRefusal(error));
    }
  }

  return (
    <Section title="Change all that match">
      {problem ? <p class="none">{problem}</p> : (
        <form class="bar" onSubmit={begin}>
          <Select id="change-all-action" label="Action" value={name} onInput={setName}
            choices={CHOICES.map((choice) => [choice.name, choice.title])} />
          {action.asks && (
            <ActionValue id="change-all-value" asks={action.asks} value={value}
              onInput={setValue} />
          )}
          <button type="submit">Count them first</button>
        </form>
      )}
      <Failure of={refusal} />
    </Section>
  );
}
