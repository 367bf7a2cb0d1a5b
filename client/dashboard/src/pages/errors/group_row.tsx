// An error group as a row, with what can be done about it.
import type { ErrorGroup, ErrorNote } from "../../api/messages/report";
import { toQueue, toTask } from "../../app/router";
import { Curve } from "../../parts/curve";
import { Foreign } from "../../parts/foreign";
import { Time } from "../../parts/time";
import { asText, fromBase64 } from "../../text/bytes";
import { count, number } from "../../text/number";
import { GroupActions } from "./group_actions";

const UNFINISHED = ["SCHEDULED", "READY", "LEASED"];

interface Props {
  of: ErrorGroup;
  onNote: () => void;
  onDone: () => void;
}

export function GroupRow({ of, onNote, onDone }: Props) {
  const tasks = (states: string[]) => toQueue(of.queue, "tasks", {
    state: states, fingerprint: of.fingerprint, stage: of.stage,
  });
  return (
    <tr>
      <th scope="row" class="long">
        <strong><Foreign text={of.type || "(no type)"} /></strong>
        {of.note?.muted && <> <span class="tag">muted</span></>}
        <div class="sample"><Foreign text={asText(fromBase64(of.text))} most={200} /></div>
        {of.note?.text && <Note of={of.note} />}
      </th>
      <td>
        <a href={toQueue(of.queue)}><Foreign text={of.queue} /></a>
        {of.stage && <> · <Foreign text={of.stage} /></>}
      </td>
      <td class="number"><Count value={of.failedCount} address={tasks(["FAILED"])} /></td>
      <td class="number"><Count value={of.retryingCount} address={tasks(UNFINISHED)} /></td>
      <td class="spark"><Trend of={of} /></td>
      <td><Time at={of.lastSeenTime} /></td>
      <td><Time at={of.firstSeenTime} /></td>
      <td class="samples">
        {(of.sampleTaskIds ?? []).map((id) => <><a href={toTask(id)}>{id}</a> </>)}
      </td>
      <td><GroupActions of={of} onNote={onNote} onDone={onDone} /></td>
    </tr>
  );
}

function Trend({ of }: { of: ErrorGroup }) {
  const counts = (of.hourlyFailureCounts ?? []).map(number);
  const all = counts.reduce((sum, one) => sum + one, 0);
  if (all === 0) return <span class="none">none</span>;
  return <Curve counts={counts} label={`${count(all)} failures in the last two days`} />;
}

function Note({ of }: { of: ErrorNote }) {
  return (
    <div class="note">
      <Foreign text={of.text} most={300} />{" "}
      <span class="none">
        <Foreign text={of.actor} most={48} /> <Time at={of.updateTime} />
      </span>
    </div>
  );
}

function Count({ value, address }: { value: string | undefined; address: string }) {
  return number(value) > 0
    ? <a href={address}>{count(value)}</a>
    : <span class="none">0</span>;
}
