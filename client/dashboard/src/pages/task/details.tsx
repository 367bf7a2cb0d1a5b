// What a task is, without its content.
import type { ComponentChildren } from "preact";
import type { Recurrence, Task, TaskProgress } from "../../api/messages/task";
import { Foreign } from "../../parts/foreign";
import { Facts, Section } from "../../parts/page";
import { Time } from "../../parts/time";
import { duration, seconds } from "../../text/duration";
import { word } from "../../text/names";

export function Details({ of }: { of: Task }) {
  const rows: [string, ComponentChildren][] = [
    ["Key", of.key ? <Foreign text={of.key} most={255} /> : "–"],
    ["Priority", of.priority ?? 0],
    ["Attempts", `${of.attemptCount ?? 0} of ${of.maxAttempts}`],
    ["Enqueued", <Time at={of.createTime} isFull />],
  ];
  if (of.stage) rows.push(["Stage", <Foreign text={of.stage} />]);
  if (of.version) rows.push(["Version", of.version]);
  if (of.scheduleTime && !of.endTime) {
    rows.push(["Schedule time", <Time at={of.scheduleTime} isFull />]);
  }
  if (of.leaseTime) rows.push(["Leased", <Time at={of.leaseTime} isFull />]);
  if (of.endTime) rows.push(["Ended", <Time at={of.endTime} isFull />]);
  if (of.workerName || of.workerHandle) {
    rows.push(["Worker", <><Foreign text={of.workerName} /> <code>{of.workerHandle}</code></>]);
  }
  if (of.progress) rows.push(["Progress", <Progress of={of.progress} />]);
  if (of.lastProgress) rows.push(["Progress before", <Progress of={of.lastProgress} />]);
  if (of.recurrence) rows.push(...recurrence(of.recurrence));
  return <Section title="Details"><Facts rows={rows} /></Section>;
}

function Progress({ of }: { of: TaskProgress }) {
  const share = of.fraction ?? 0;
  return (
    <>
      <progress aria-label="Progress" value={share} max={1} /> {Math.round(share * 100)} %
      {" "}<Foreign text={of.message} most={200} />
    </>
  );
}

function recurrence(of: Recurrence): [string, ComponentChildren][] {
  const rows: [string, ComponentChildren][] = [];
  if (of.cron) {
    rows.push(["Cron", <><code><Foreign text={of.cron} /></code> {of.timeZone}</>]);
  }
  if (of.period) rows.push(["Period", duration(seconds(of.period))]);
  if (of.plannedTime) rows.push(["Planned time", <Time at={of.plannedTime} isFull />]);
  rows.push(["Missed planned times", word(of.catchUp, "CATCH_UP_")]);
  return rows;
}
