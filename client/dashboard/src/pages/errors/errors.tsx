// Failures that are the same fault, of all queues or of one.
import { useState } from "preact/hooks";
import { useLive } from "../../api/live";
import { admin } from "../../api/call";
import type { ErrorGroup } from "../../api/messages/report";
import { setQuery, usePlace } from "../../app/router";
import { Shown } from "../../parts/failure";
import { Check, Field } from "../../parts/field";
import { Page } from "../../parts/page";
import { Pager } from "../../parts/pager";
import { Empty, Table } from "../../parts/table";
import { GroupRow } from "./group_row";
import { NoteDialog } from "./note_dialog";

const COLUMNS = [
  { name: "error", title: "Error" },
  { name: "queue", title: "Queue and stage" },
  { name: "failed", title: "Failed", isNumber: true },
  { name: "retrying", title: "Retrying", isNumber: true },
  { name: "trend", title: "Last two days" },
  { name: "last", title: "Last seen" },
  { name: "first", title: "First seen" },
  { name: "samples", title: "Samples" },
  { name: "action", title: "Action" },
];

interface Answer {
  groups?: ErrorGroup[];
  nextPageToken?: string;
}

export function Errors() {
  const queue = usePlace().query.get("queue") ?? "";
  return (
    <Page title="Errors">
      <QueueFilter key={queue} queue={queue} />
      <ErrorGroups queue={queue} />
    </Page>
  );
}

function QueueFilter({ queue }: { queue: string }) {
  const [draft, setDraft] = useState(queue);
  function apply(event: Event) {
    event.preventDefault();
    setQuery({ queue: draft.trim(), after: undefined });
  }
  return (
    <form class="bar" role="search" aria-label="Filter of errors" onSubmit={apply}>
      <Field id="errors-queue" label="Queue" value={draft} onInput={setDraft}
        help="Its whole name; empty for all" />
      <button type="submit" class="main">Filter</button>
    </form>
  );
}

export function ErrorGroups({ queue }: { queue: string }) {
  const { query } = usePlace();
  const after = query.get("after") ?? "";
  const hideMuted = query.get("muted") !== "show";
  const [noted, setNoted] = useState<ErrorGroup | null>(null);
  const live = useLive((signal) => admin<Answer>(
    "ListErrorGroups", { queue, hideMuted, pageToken: after }, signal), [queue, hideMuted, after]);
  return (
    <>
      <Check id="errors-muted" label="Show muted ones" isOn={!hideMuted}
        onInput={(isOn) => setQuery({ muted: isOn ? "show" : undefined, after: undefined })} />
      <Shown live={live}>
        {({ groups }) => (
          <List of={groups ?? []} hideMuted={hideMuted} onNote={setNoted} onDone={live.reload} />
        )}
      </Shown>
      <Pager after={after} next={live.value?.nextPageToken} what="errors" />
      {noted && (
        <NoteDialog of={noted} now={live.value?.groups?.find((one) => isSame(one, noted))}
          onDone={live.reload} onClose={() => setNoted(null)} />
      )}
    </>
  );
}

function isSame(one: ErrorGroup, other: ErrorGroup): boolean {
  return one.queue === other.queue && one.fingerprint === other.fingerprint;
}

function List({ of, hideMuted, onNote, onDone }:
  { of: ErrorGroup[]; hideMuted: boolean; onNote: (group: ErrorGroup) => void;
    onDone: () => void }) {
  return (
    <Table label="Error groups" columns={COLUMNS}>
      {of.map((group) => (
        <GroupRow key={`${group.queue}/${group.stage}/${group.fingerprint}`} of={group}
          onNote={() => onNote(group)} onDone={onDone} />
      ))}
      {of.length === 0 && (
        <Empty columns={COLUMNS.length}>
          {hideMuted ? "No task has failed, or all errors are muted."
            : "No task has failed."}
        </Empty>
      )}
    </Table>
  );
}
