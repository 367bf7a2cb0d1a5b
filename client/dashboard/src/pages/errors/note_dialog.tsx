// Asks for the note of an error group. If somebody else changes it meanwhile, both are seen.
import { useRef, useState } from "preact/hooks";
import { change } from "../../api/call";
import type { ErrorGroup } from "../../api/messages/report";
import { Confirm } from "../../parts/confirm";
import { Field } from "../../parts/field";
import { Foreign, ForeignBlock } from "../../parts/foreign";

interface Props {
  /** As it was when the dialog was opened. */
  of: ErrorGroup;
  /** As it is now, if it is still listed; else what was seen last holds. */
  now: ErrorGroup | undefined;
  onDone: () => void;
  onClose: () => void;
}

export function NoteDialog({ of, now, onDone, onClose }: Props) {
  const [text, setText] = useState(of.note?.text ?? "");
  const seen = useRef(of);
  if (now) seen.current = now;
  const newer = seen.current.note?.text ?? "";
  const isStale = newer !== (of.note?.text ?? "");

  async function save() {
    await change("AnnotateErrorGroup", {
      queue: of.queue, fingerprint: of.fingerprint, note: text.trim(),
    });
    onDone();
  }

  return (
    <Confirm title="Note of this error group" verb="Save" isWide onDo={save} onClose={onClose}>
      <p>
        <Foreign text={of.type || "(no type)"} /> in <Foreign text={of.queue} />, at all its stages
      </p>
      <Field id="note-text" label="Note" rows={6} value={text} onInput={setText}
        help="For other operators; empty: none any more" />
      {isStale && (
        <div class="failure" role="alert">
          <p>
            <strong>Somebody changed this note since you began.</strong> What you save replaces it:
          </p>
          <ForeignBlock text={newer || "(none any more)"} label="The note as it is now" />
        </div>
      )}
    </Confirm>
  );
}
