// Which tasks a list shows: what the address has, as the API's filter.
import type { TaskFilter } from "../../api/messages/bulk";
import type { TaskState } from "../../api/messages/task";
import type { Query } from "../../app/router";
import { readHeaders } from "../../text/content";
import { parseDuration } from "../../text/duration";
import { parseTime } from "../../text/time";

/** What the form has: texts as they were typed. The names are those of the address. */
export interface Draft {
  queue: string;
  state: string[];
  key: string;
  stage: string;
  headers: string;
  error_type: string;
  fingerprint: string;
  min_attempts: string;
  priority: string;
  periodic: string;
  min_age: string;
  max_age: string;
  from: string;
  to: string;
  payload: string;
  ids: string;
  worker: string;
}

const TEXTS = ["key", "stage", "error_type", "fingerprint", "min_attempts", "priority",
  "periodic", "min_age", "max_age", "from", "to", "payload", "worker"] as const;

export function readDraft(query: URLSearchParams): Draft {
  const texts = Object.fromEntries(TEXTS.map((name) => [name, query.get(name) ?? ""]));
  return {
    ...(texts as Record<(typeof TEXTS)[number], string>),
    queue: query.getAll("queue").join(", "),
    state: query.getAll("state"),
    headers: query.getAll("header").join("\n"),
    ids: query.getAll("id").join(", "),
  };
}

const words = (text: string) => text.split(/[\s,]+/).filter(Boolean);

export function toQuery(draft: Draft): Query {
  const texts = Object.fromEntries(TEXTS.map((name) => [name, draft[name].trim() || undefined]));
  return {
    ...texts,
    queue: words(draft.queue),
    state: draft.state,
    header: draft.headers.split("\n").map((line) => line.trim()).filter(Boolean),
    id: words(draft.ids),
    after: undefined,
  };
}

export type Problems = Partial<Record<keyof Draft, string>>;

function whole(text: string, least: number): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < least) throw new Error(`“${text}” is no such number.`);
  return value;
}

/** The filter without its queue and worker, and what is wrong with fields of the form. */
export function readFilter(draft: Draft): { filter: TaskFilter; problems: Problems } {
  const filter: TaskFilter = {};
  const problems: Problems = {};
  const read = (name: keyof Draft, take: (text: string) => void) => {
    const text = draft[name] as string;
    if (!text.trim()) return;
    try {
      take(text.trim());
    } catch (error) {
      problems[name] = (error as Error).message;
    }
  };
  if (draft.state.length > 0) {
    filter.states = draft.state.map((name) => `TASK_STATE_${name}` as TaskState);
  }
  read("key", (text) => (filter.keyPrefix = text));
  read("stage", (text) => (filter.stage = text));
  read("headers", (text) => (filter.headers = readHeaders(text)));
  read("error_type", (text) => (filter.errorType = text));
  read("fingerprint", (text) => (filter.fingerprint = text));
  read("min_attempts", (text) => (filter.minAttempts = whole(text, 0)));
  read("priority", (text) => (filter.priority = whole(text, -32768)));
  read("periodic", (text) => (filter.periodic = text === "yes"));
  read("min_age", (text) => (filter.minAge = parseDuration(text)));
  read("max_age", (text) => (filter.maxAge = parseDuration(text)));
  read("from", (text) => (filter.startTime = parseTime(text)));
  read("to", (text) => (filter.endTime = parseTime(text)));
  read("payload", (text) => (filter.payloadText = text));
  read("ids", (text) => (filter.taskIds = words(text)));
  return { filter, problems };
}

/** Whether more is set than the fields that are always shown. */
export function hasMore(draft: Draft): boolean {
  return TEXTS.some((name) => name !== "key" && draft[name] !== "")
    || draft.headers !== "" || draft.ids !== "";
}
