// Asks before something that cannot be taken back, or asks for a value first.
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { asRefusal, type Refusal } from "../api/refusal";
import { Failure } from "./failure";

interface Props {
  title: string;
  /** What the button says that does it. */
  verb: string;
  isDangerous?: boolean;
  isWide?: boolean;
  children?: ComponentChildren;
  /** What it throws is shown, and the dialog stays open with what was typed. */
  onDo: () => Promise<void> | void;
  onClose: () => void;
}

export function Confirm({ title, verb, isDangerous, isWide, children, onDo, onClose }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  const [isBusy, setIsBusy] = useState(false);

  useEffect(() => {
    const opener = document.activeElement as HTMLElement | null;
    dialog.current?.showModal();
    return () => opener?.focus?.();
  }, []);

  async function submit(event: Event) {
    event.preventDefault();
    setIsBusy(true);
    setRefusal(null);
    try {
      await onDo();
      onClose();
    } catch (error) {
      setRefusal(asRefusal(error));
      setIsBusy(false);
    }
  }

  return (
    <dialog ref={dialog} class={isWide ? "wide" : undefined} aria-labelledby="confirm-title"
      onClose={onClose}
      onCancel={(event) => isBusy && event.preventDefault()}>
      <form onSubmit={submit}>
        <h2 id="confirm-title">{title}</h2>
        {children}
        <Failure of={refusal} />
        <div class="buttons">
          <button type="submit" class={isDangerous ? "main danger" : "main"} disabled={isBusy}>
            {verb}
          </button>
          <button type="button" onClick={() => dialog.current?.close()}>Leave it</button>
        </div>
      </form>
    </dialog>
  );
}
