// A call of the API by Connect's protocol. One that is refused for want of credentials waits until
// somebody logged in and is then repeated: so a form that was sent loses nothing.
import { noteDate } from "./clock";
import { Refusal, refusalOf, UNREACHABLE } from "./refusal";
import { askForLogIn } from "./log_in";
import { noteChange, shared, type Answer } from "./shared";

const DEADLINE_MS = 20_000;
// The broker itself ends a call at its deadline; only a lost one takes longer.
const PATIENCE_MS = DEADLINE_MS + 5000;

export async function post(path: string, body: object, signal?: AbortSignal): Promise<Response> {
  try {
    return await fetch(path, {
      method: "POST",
      headers: {
        "Content-Type": "application/json",
        "Connect-Protocol-Version": "1",
        "Connect-Timeout-Ms": String(DEADLINE_MS),
      },
      body: JSON.stringify(body),
      credentials: "same-origin",
      cache: "no-store",
      signal: AbortSignal.any([AbortSignal.timeout(PATIENCE_MS), ...(signal ? [signal] : [])]),
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Refusal(UNREACHABLE, "The broker cannot be reached.");
  }
}

export async function call<T>(method: string, body: object, signal?: AbortSignal): Promise<T> {
  const question = `${method} ${JSON.stringify(body)}`;
  for (;;) {
    try {
      return valueOf<T>(await shared(question, () => ask(method, body, signal), signal));
    } catch (error) {
      if (!(error instanceof Refusal) || error.status !== 401) throw error;
      await askForLogIn(error, signal);
      noteChange();
    }
  }
}

async function ask(method: string, body: object, signal?: AbortSignal): Promise<Answer> {
  const response = await post(`/skiplane.v1.${method}`, body, signal);
  const date = response.headers.get("Date");
  noteDate(date);
  if (!response.ok) throw await refusalOf(response);
  try {
    return { text: await response.text(), date };
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Refusal(UNREACHABLE, "The broker's answer did not come whole.");
  }
}

function valueOf<T>(text: string): T {
  try {
    return JSON.parse(text) as T;
  } catch {
    throw new Refusal(UNREACHABLE, "The broker's answer did not come whole.");
  }
}

export function admin<T>(method: string, body: object = {}, signal?: AbortSignal): Promise<T> {
  return call<T>(`AdminService/${method}`, body, signal);
}

/** Not crypto.randomUUID, which pages without TLS do not have. */
export function newRequestId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** A change under an id of its own: if its answer is lost, the same id repeats it without harm. */
export async function change<T>(
  method: string, body: object, service = "AdminService",
): Promise<T> {
  const request = { ...body, requestId: newRequestId() };
  try {
    return await call<T>(`${service}/${method}`, request);
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== UNREACHABLE) throw error;
    return await call<T>(`${service}/${method}`, request);
  } finally {
    noteChange();
  }
}
