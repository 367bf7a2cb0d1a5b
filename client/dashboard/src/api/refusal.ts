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

/** Of an answer that is not 2xx. A proxy may have made it, so nothing is expected of its body. */
export async function refusalOf(response: Response): Promise<Refusal> {
  let body: { code?: string; message?: string; details?: Detail[] } = {};
  try {
    body = await response.json();
  } catch {
    // Not JSON: what is known is the status.
  }
  const details = Array.isArray(body.details) ? body.details : [];
  const reason = details.map((detail) => detail.debug?.reason).find(Boolean) ?? "";
  const isGateway = response.status >= 502 && response.status <= 504;
  const code = body.code ?? (isGateway ? "unavailable" : `http_${response.status}`);
  const message = body.message ?? `The answer has the status ${response.status}.`;
  return new Refusal(code, message, reason, fieldOf(details), response.status);
}

export function asRefusal(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  return new Refusal("internal", error instanceof Error ? error.message : String(error));
}
