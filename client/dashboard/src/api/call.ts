// A call of the API by Connect's protocol. One that is refused for want of credentials waits until
// somebody logged in and is then repeated: so a form that was sent loses nothing.
import { noteDate } from "./clock";
import { Refusal, refusalOf, UNREACHABLE } from "./refusal";
import { askForLogIn } from "./log_in";

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
  for (;;) {
    const response = await post(`/skiplane.v1.${method}`, body, signal);
    noteDate(response.headers.get("Date"));
    if (response.ok) return await readAnswer<T>(response, signal);
    const refusal = await refusalOf(response);
    if (response.status !== 401) throw refusal;
    await askForLogIn(refusal, signal);
  }
}

async function readAnswer<T>(response: Response, signal?: AbortSignal): Promise<T> {
  try {
    return (await response.json()) as T;
  } catch (error) {
    if (signal?.aborted) throw error;
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
  }
}
