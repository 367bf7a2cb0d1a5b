// What can be done about an error group.
import { useState } from "preact/hooks";
import { useMay } from "../../api/access";
import { change } from "../../api/call";
import type { OperationResponse } from "../../api/messages/bulk";
import type { ErrorGroup } from "../../api/messages/report";
import { asRefusal } from "../../api/refusal";
import { tell, tellError } from "../../app/notices";
import { navigate, to } from "../../app/router";
import { Confirm } from "../../parts/confirm";
import { Foreign } from "../../parts/foreign";
import { number, plural } from "../../text/number";

interface Props {
  of: ErrorGroup;
  onNote: () => void;
  onDone: () => void;
}

export function GroupActions({ of, onNote, onDone }: Props) {
  const [isAsking, setIsAsking] = useState(false);
  if (!useMay()("OPERATE", of.queue)) return <span class="none">read-only</span>;
  const isMuted = !!of.note?.muted;

  async function mute() {
    const name = of.type || "(no type)";
    try {
      await change("AnnotateErrorGroup", {
        queue: of.queue, fingerprint: of.fingerprint, muted: !isMuted,
      });
      tell(isMuted ? `${name} is no longer muted.` : `${name} is muted.`);
    } catch (error) {
      tellError(asRefusal(error).message);
    }
    onDone();
  }

  return (
    <div class="buttons">
      <button type="button" onClick={() => setIsAsking(true)}>Retry…</button>
      <button type="button" onClick={onNote}>Note…</button>
      <button type="button" onClick={() => void mute()}>{isMuted ? "Unmute" : "Mute"}</button>
      {isAsking && <RetryDialog of={of} onClose={() => setIsAsking(false)} />}
    </div>
  );
}

function RetryDialog({ of, onClose }: { of: ErrorGroup; onClose: () => void }) {
  const tasks = number(of.failedCount) + number(of.retryingCount);

  async function retry() {
    const { operation } = await change<OperationResponse>("RetryErrorGroup", {
      queue: of.queue, stage: of.stage ?? "", fingerprint: of.fingerprint, wait: "0s",
    });
    navigate(to(["operations", operation.operationId]));
  }

  return (
    <Confirm title="Retry this error group" verb="Retry" onDo={retry} onClose={onClose}>
      <p>
        {plural(tasks, "task")} of <Foreign text={of.queue} /> that failed
        like <Foreign text={of.type || "this"} /> run again now.
      </p>
    </Confirm>
  );
}
