// The form that asks for a token. The page stays below it as it was.
import { useEffect, useRef, useState } from "preact/hooks";
import { asRefusal } from "../api/refusal";
import { logIn, wanted } from "../api/log_in";
import { useStore } from "../api/store";

export function LogIn() {
  const why = useStore(wanted);
  const dialog = useRef<HTMLDialogElement>(null);
  const token = useRef<HTMLInputElement>(null);
  const [problem, setProblem] = useState("");
  const [isBusy, setIsBusy] = useState(false);

  useEffect(() => {
    if (why !== null) {
      dialog.current?.showModal();
      token.current?.focus();
    } else {
      dialog.current?.close();
    }
  }, [why]);

  async function submit(event: Event) {
    event.preventDefault();
    const field = token.current!;
    if (!field.value.trim()) {
      setProblem("Type a token, or paste it.");
      return;
    }
    setIsBusy(true);
    try {
      await logIn(field.value.trim());
      field.value = "";
      setProblem("");
    } catch (error) {
      setProblem(asRefusal(error).message);
      field.select();
    }
    setIsBusy(false);
  }

  return (
    <dialog ref={dialog} class="login" aria-labelledby="login-title"
      onCancel={(event) => event.preventDefault()}
      onClose={() => wanted.get() !== null && dialog.current?.showModal()}>
      <form onSubmit={submit}>
        <h2 id="login-title">Log in to Skiplane</h2>
        <p id="login-why" class="foreign">{why}</p>
        <label for="login-token">Token</label>
        <input id="login-token" ref={token} type="password" autocomplete="current-password"
          spellcheck={false} aria-describedby="login-why login-problem"
          aria-invalid={problem !== ""} />
        <p id="login-problem" class="problem" role="alert">{problem}</p>
        <div class="buttons">
          <button class="main" type="submit" disabled={isBusy}>Log in</button>
        </div>
      </form>
    </dialog>
  );
}
