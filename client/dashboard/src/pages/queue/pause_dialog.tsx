// Asks what to pause, and why.
import { useState } from "preact/hooks";
import { change } from "../../api/call";
import type { Queue } from "../../api/messages/queue";
import { tell } from "../../app/notices";
import { Confirm } from "../../parts/confirm";
import { Field, Select, type Choice } from "../../parts/field";

const MODES: Choice[] = [
  ["PAUSE_MODE_LEASE", "Leases: no task is given to workers"],
  ["PAUSE_MODE_ENQUEUE", "Enqueues: new tasks are refused"],
  ["PAUSE_MODE_BOTH", "Both"],
];

export function PauseDialog({ of, onDone, onClose }:
  { of: Queue; onDone: () => void; onClose: () => void }) {
  const [mode, setMode] = useState(
    MODES.some(([known]) => known === of.pauseMode) ? of.pauseMode! : "PAUSE_MODE_LEASE");
  const [reason, setReason] = useState(of.pauseReason ?? "");

  async function pause() {
    await change("PauseQueue", { name: of.name, mode, reason });
    tell(`The queue ${of.name} is paused.`);
    onDone();
  }

  return (
    <Confirm title="Pause this queue" verb="Pause" onDo={pause} onClose={onClose}>
      <Select id="pause-mode" label="What to pause" value={mode} onInput={setMode}
        choices={MODES} />
      <Field id="pause-reason" label="Why" value={reason} onInput={setReason}
        help="For the next person" />
      <p>Attempts that run go on.</p>
    </Confirm>
  );
}
