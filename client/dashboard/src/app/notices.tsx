// What was done, told where everybody sees it, and read aloud.
import { makeStore, useStore } from "../api/store";

interface Notice {
  text: string;
  isError: boolean;
  number: number;
}

const notice = makeStore<Notice | null>(null);
let told = 0;

function put(text: string, isError: boolean): void {
  told += 1;
  notice.set({ text, isError, number: told });
}

export const tell = (text: string): void => put(text, false);
export const tellError = (text: string): void => put(text, true);
export const clearNotice = (): void => notice.set(null);

export function Notices() {
  const current = useStore(notice);
  return (
    <div class="notices" role="status" aria-live="polite">
      {current && (
        <div key={current.number} class={current.isError ? "notice bad" : "notice"}>
          <span><bdi>{current.text}</bdi></span>
          <button type="button" class="quiet" onClick={clearNotice} aria-label="Close this message">
            ×
          </button>
        </div>
      )}
    </div>
  );
}
