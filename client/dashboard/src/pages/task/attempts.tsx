// Finished attempts of a task, the latest first. Older ones come when they are asked for.
import { useState } from "preact/hooks";
import type { Attempt } from "../../api/messages/task";
import { asRefusal, type Refusal } from "../../api/refusal";
import { Failure } from "../../parts/failure";
import { Foreign, ForeignBlock } from "../../parts/foreign";
import { Section } from "../../parts/page";
import { Payload } from "../../parts/payload";
import { Outcome } from "../../parts/state";
import { Empty, Table } from "../../parts/table";
import { Time } from "../../parts/time";
import { asText, fromBase64 } from "../../text/bytes";
import { duration } from "../../text/duration";
import { loadAttempts } from "./load";

const COLUMNS = [
  { name: "number", title: "Attempt", isNumber: true },
  { name: "outcome", title: "Outcome" },
  { name: "stage", title: "Stage" },
  { name: "leased", title: "Leased" },
  { name: "waited", title: "Waited", isNumber: true },
  { name: "ran", title: "Ran", isNumber: true },
  { name: "worker", title: "Worker" },
  { name: "error", title: "Error" },
];

interface Props {
  taskId: string;
  first: Attempt[];
  next: string;
  hasPayload: boolean;
}

export function Attempts({ taskId, first, next, hasPayload }: Props) {
  const [older, setOlder] = useState<{ attempts: Attempt[]; next: string } | null>(null);
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  const token = older ? older.next : next;

  async function loadMore() {
    setRefusal(null);
    try {
      const answer = await loadAttempts(taskId, token);
      setOlder({
        attempts: [...(older?.attempts ?? []), ...(answer.attempts ?? [])],
        next: answer.nextAttemptsPageToken ?? "",
      });
    } catch (error) {
      setRefusal(asRefusal(error));
    }
  }

  const all = [...first, ...(older?.attempts ?? [])];
  return (
    <Section title="Attempts">
      <Table label="Attempts" columns={COLUMNS}>
        {all.map((attempt) => (
          <Row key={`${attempt.leaseTime} ${attempt.attempt}`} of={attempt}
            hasPayload={hasPayload} />
        ))}
        {all.length === 0 && (
          <Empty columns={COLUMNS.length}>No finished attempt is kept.</Empty>
        )}
      </Table>
      <Failure of={refusal} />
      {token && <button type="button" onClick={() => void loadMore()}>Older attempts</button>}
    </Section>
  );
}

function between(from: string | undefined, to: string | undefined): string {
  if (!from || !to) return "–";
  return duration(Math.max(0, (Date.parse(to) - Date.parse(from)) / 1000));
}

function Row({ of, hasPayload }: { of: Attempt; hasPayload: boolean }) {
  const name = `${of.stage ?? ""}-${of.attempt}-${of.leaseTime}`;
  return (
    <tr>
      <td class="number">{of.attempt}</td>
      <td><Outcome of={of.outcome} /></td>
      <td><Foreign text={of.stage} most={24} /></td>
      <td><Time at={of.leaseTime} /></td>
      <td class="number">{between(of.scheduleTime, of.leaseTime)}</td>
      <td class="number">{between(of.leaseTime, of.endTime)}</td>
      <td><Foreign text={of.workerName} most={24} /></td>
      <td class="long">
        {of.error && (
          <details>
            <summary><Foreign text={of.error.type || "(no type)"} most={60} /></summary>
            <ForeignBlock text={asText(fromBase64(of.error.text))} label="Text of the error" />
          </details>
        )}
        {hasPayload && of.payload && (
          <details>
            <summary>Payload</summary>
            <Payload base64={of.payload} name={`payload-${name}`} label="Payload of the attempt" />
          </details>
        )}
        {hasPayload && of.result && (
          <details>
            <summary>Result</summary>
            <Payload base64={of.result} name={`result-${name}`} label="Result of the attempt" />
          </details>
        )}
      </td>
    </tr>
  );
}
