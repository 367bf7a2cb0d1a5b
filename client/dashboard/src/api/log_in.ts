// Log-in. The token goes to the broker once and comes back as a cookie that no script can read.
import { makeStore } from "./store";
import { post } from "./call";
import { refusalOf, type Refusal } from "./refusal";

/** Why somebody has to log in; null if nobody has to. */
export const wanted = makeStore<string | null>(null);
/** Grows with each log-in and log-out: who is logged in may be another one. */
export const logIns = makeStore(0);
let waiting: (() => void)[] = [];

/** Resolves when somebody has logged in. */
export function askForLogIn(refusal: Refusal, signal?: AbortSignal): Promise<void> {
  wanted.set(refusal.reason === "CREDENTIALS_MISSING" ? "This broker asks who you are."
    : `Your log-in is over: ${refusal.message}`);
  return new Promise((resolve, reject) => {
    waiting.push(resolve);
    signal?.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}

export async function logIn(token: string): Promise<void> {
  const response = await post("/dashboard/login", { token });
  if (!response.ok) throw await refusalOf(response);
  const calls = waiting;
  waiting = [];
  wanted.set(null);
  logIns.set(logIns.get() + 1);
  for (const go of calls) go();
}

export async function logOut(): Promise<void> {
  const response = await post("/dashboard/logout", {});
  if (!response.ok) throw await refusalOf(response);
  logIns.set(logIns.get() + 1);
}
