// What a call says instead of an answer.

export const UNREACHABLE = "unreachable";
const AWAY = new Set([UNREACHABLE, "unavailable", "deadline_exceeded"]);

interface Detail {
  type?: string;
  debug?: { reason?: string; fieldViolations?: { field?: string }[] };
}

export class Refusal extends Error {
  constructor(
    readonly code: string,
    message: string,
    readonly reason = "",
    readonly field = "",
    readonly status = 0,
  ) {
    super(message);
  }

  /** The broker or its database does not answer: the same call may work later. */
  get isAway(): boolean {
    return AWAY.has(this.code);
  }

  get isDenied(): boolean {
    return this.code === "permission_denied";
  }

  get isUnknown(): boolean {
    return this.code === "not_found";
  }
}

function fieldOf(details: Detail[]): string {
  for (const detail of details) {
    const field = detail.debug?.fieldViolations?.[0]?.field;
    if (field) return field;
  }
  return "";
}

interface ErrorBody {
  code?: string;
  message?: string;
  details?: Detail[];
}

/** Of the error that a stream ends with, or an answer of this status has. */
export function refusalIn(body: ErrorBody, status = 0): Refusal {
  const details = Array.isArray(body.details) ? body.details : [];
  const reason = details.map((detail) => detail.debug?.reason).find(Boolean) ?? "";
  const isGateway = status >= 502 && status <= 504;
  const code = body.code ?? (isGateway ? "unavailable" : `http_${status}`);
  const message = body.message ?? `The answer has the status ${status}.`;
  return new Refusal(code, message, reason, fieldOf(details), status);
}

/** Of an answer that is not 2xx. A proxy may have made it, so nothing is expected of its body. */
export async function refusalOf(response: Response): Promise<Refusal> {
  let body: ErrorBody = {};
  try {
    body = await response.json();
  } catch {
    // Not JSON: what is known is the status.
  }
  return refusalIn(body, response.status);
}

export function asRefusal(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  return new Refusal("internal", error instanceof Error ? error.message : String(error));
}
