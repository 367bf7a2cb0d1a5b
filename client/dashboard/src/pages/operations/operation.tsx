// One change of many tasks: what it does, how far it is. Its id is in the address, so that a reload
// finds it again.
import { useState } from "preact/hooks";
import { useMay, who } from "../../api/access";
import { admin, change } from "../../api/call";
import { useLive } from "../../api/live";
import { useStore } from "../../api/store";
import type { BulkOperation, OperationResponse } from "../../api/messages/bulk";
import { tell } from "../../app/notices";
import { navigate, to } from "../../app/router";
import { Confirm } from "../../parts/confirm";
import { Shown } from "../../parts/failure";
import { Foreign } from "../../parts/foreign";
import { Facts, Page, Section } from "../../parts/page";
import { Time } from "../../parts/time";
import { count, number, plural } from "../../text/number";
import { actionName } from "../../text/names";
import { filterFacts } from "./filter_facts";
import { isRunning, OperationState } from "./operation_state";

const PERIOD_MS = 500;

export function Operation({ operationId }: { operationId: string }) {
  const [isOver, setIsOver] = useState(false);
  const live = useLive(
    (signal) => admin<OperationResponse>("GetBulkOperation", { operationId }, signal),
    [operationId], { period: PERIOD_MS, isOn: !isOver });
  const operation = live.value?.operation;
  if (operation && !isRunning(operation) && !isOver) setIsOver(true);
  const title = operation
    ? actionName(operation.action) + (operation.dryRun ? ": count only" : "") : "Operation";
  return (
    <Page title={title}
      actions={operation && <Actions of={operation} onChange={live.reload} />}>
      <Shown live={live}>{(value) => <Told of={value.operation} />}</Shown>
    </Page>
  );
}

function Told({ of }: { of: BulkOperation }) {
  return (
    <>
      <Progress of={of} />
      <Section title="Which tasks">
        <Facts rows={filterFacts(of.filter).map(
          ([name, text]) => [name, <Foreign text={text} most={200} />])} />
      </Section>
    </>
  );
}

function Progress({ of }: { of: BulkOperation }) {
  const all = Math.max(number(of.totalEstimate), number(of.scannedCount), 1);
  const share = isRunning(of) ? number(of.scannedCount) / all : 1;
  return (
    <>
      <div class="progress">
        <progress id="progress" aria-label="Progress" value={share} max={1} />
        <span><OperationState of={of} /> {Math.floor(share * 100)} %</span>
      </div>
      <Facts rows={[
        ["Looked at", `${count(of.scannedCount)} of about ${count(all)}`],
        ["Matched", count(of.matchedCount)],
        ["Changed", of.dryRun ? "nothing: it only counts" : count(of.changedCount)],
        ["Actor", <Foreign text={of.actor} />],
        ["Began", <Time at={of.createTime} isFull />],
        ["Last step", <Time at={of.updateTime} />],
      ]} />
      {!isRunning(of) && !of.dryRun && number(of.changedCount) < number(of.matchedCount) && (
        <p>{plural(number(of.matchedCount) - number(of.changedCount), "task")} matched but
          stayed: their state did not allow the change.</p>
      )}
    </>
  );
}

/** Whether the filter is shown whole: what is hidden would be missing from a repeat. */
function isWhole(of: BulkOperation, mayReadPayload: boolean, principal: string): boolean {
  return mayReadPayload
    || (of.actor === principal && Object.keys(of.filter.headers ?? {}).length === 0);
}

function Actions({ of, onChange }: { of: BulkOperation; onChange: () => void }) {
  const [isAsking, setIsAsking] = useState(false);
  const may = useMay();
  const me = useStore(who);
  const queue = of.filter.queue ?? "";
  if (!may("OPERATE", queue)) return <span class="none">read-only</span>;
  if (isRunning(of)) {
    const stop = async () => {
      await change("StopBulkOperation", { operationId: of.operationId });
      tell("It stops. What was changed stays changed.");
      onChange();
    };
    return (
      <>
        <button type="button" class="danger" onClick={() => setIsAsking(true)}>Stop…</button>
        {isAsking && (
          <Confirm title="Stop this operation" verb="Stop it" isDangerous onDo={stop}
            onClose={() => setIsAsking(false)}>
            <p>What was changed stays changed.</p>
          </Confirm>
        )}
      </>
    );
  }
  if (!of.dryRun || number(of.matchedCount) === 0) return null;
  if (!isWhole(of, may("READ_PAYLOAD", queue), me?.principal ?? "")) {
    return <span class="none">To do it, set the filter again: parts of it are not shown.</span>;
  }
  return <DoIt of={of} />;
}

function DoIt({ of }: { of: BulkOperation }) {
  const [isAsking, setIsAsking] = useState(false);
  const title = `${actionName(of.action)}: ${plural(number(of.matchedCount), "task")}`;
  const isDangerous = !!(of.action.cancel || of.action.delete);

  async function start() {
    const { operation } = await change<OperationResponse>("StartBulkOperation",
      { filter: of.filter, action: of.action, wait: "0s" });
    navigate(to(["operations", operation.operationId]));
  }

  return (
    <>
      <button type="button" class="main" onClick={() => setIsAsking(true)}>{title}…</button>
      {isAsking && (
        <Confirm title={title} verb={actionName(of.action)} isDangerous={isDangerous} onDo={start}
          onClose={() => setIsAsking(false)}>
          <p>The tasks of <Foreign text={of.filter.queue} /> that match now are changed: they may be
            more or fewer than were counted. It runs in small steps and can be stopped.</p>
        </Confirm>
      )}
    </>
  );
}
