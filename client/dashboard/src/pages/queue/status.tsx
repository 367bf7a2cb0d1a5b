// What a queue does: its counts, its stages, and how long attempts waited and ran.
import type { Queue, StageCounts } from "../../api/messages/queue";
import { setQuery, toQueue, usePlace } from "../../app/router";
import { Select, type Choice } from "../../parts/field";
import { Foreign } from "../../parts/foreign";
import { Section } from "../../parts/page";
import { Table } from "../../parts/table";
import { age } from "../../text/duration";
import { count } from "../../text/number";
import { Hours } from "./hours";
import { Minutes } from "./minutes";

const COLUMNS = [
  { name: "stage", title: "Stage" },
  { name: "ready", title: "Ready", isNumber: true },
  { name: "delayed", title: "Delayed", isNumber: true },
  { name: "leased", title: "Leased", isNumber: true },
  { name: "failed", title: "Failed", isNumber: true },
  { name: "succeeded", title: "Acked", isNumber: true },
  { name: "oldest", title: "Oldest ready", isNumber: true },
];

export function Status({ of }: { of: Queue }) {
  const stages = (of.settings.stages ?? []).map(({ name }) => name);
  const stage = usePlace().query.get("stage") ?? "";
  return (
    <>
      <Counts of={of} />
      {(of.counts?.stages?.length ?? 0) > 0 && (
        <Section title="Stages"><Stages queue={of.name} of={of.counts!.stages!} /></Section>
      )}
      <StageChoice of={stages} value={stage} />
      <Minutes queue={of.name} stage={stage} />
      <Hours queue={of.name} stage={stage} />
    </>
  );
}

/** Of which stage the statistics are. */
function StageChoice({ of, value }: { of: string[]; value: string }) {
  if (of.length === 0) return null;
  return (
    <div class="bar">
      <Select id="statistics-stage" label="Statistics of" value={value}
        choices={[["", "all stages"], ...of.map((name): Choice => [name, name])]}
        help={value ? undefined : "Of percentiles the slowest stage is drawn"}
        onInput={(stage) => setQuery({ stage }, true)} />
    </div>
  );
}

function Counts({ of }: { of: Queue }) {
  const counts = of.counts ?? {};
  const cells: [string, string | undefined, string][] = [
    ["Ready", counts.readyCount, "READY"],
    ["Delayed", counts.scheduledCount, "SCHEDULED"],
    ["Leased", counts.leasedCount, "LEASED"],
    ["Failed", counts.failedCount, "FAILED"],
    ["Succeeded", counts.succeededCount, "SUCCEEDED"],
    ["Cancelled", counts.cancelledCount, "CANCELLED"],
  ];
  return (
    <dl class="totals" aria-label="Counts">
      {cells.map(([title, value, state]) => (
        <div key={state}>
          <dt>{title}</dt>
          <dd><a href={toQueue(of.name, "tasks", { state })}>{count(value)}</a></dd>
        </div>
      ))}
    </dl>
  );
}

function Stages({ queue, of }: { queue: string; of: StageCounts[] }) {
  return (
    <Table label="Stages" columns={COLUMNS}>
      {of.map((stage) => (
        <tr key={stage.stage}>
          <th scope="row">
            <a href={toQueue(queue, "tasks", { stage: stage.stage })}>
              <Foreign text={stage.stage} />
            </a>
          </th>
          <td class="number">{count(stage.readyCount)}</td>
          <td class="number">{count(stage.scheduledCount)}</td>
          <td class="number">{count(stage.leasedCount)}</td>
          <td class="number">{count(stage.failedCount)}</td>
          <td class="number">{count(stage.succeededCount)}</td>
          <td class="number">{age(stage.oldestReadyAge)}</td>
        </tr>
      ))}
    </Table>
  );
}
