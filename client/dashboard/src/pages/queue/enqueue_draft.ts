// A task as somebody typed it, and the request that makes it.
import { readHeaders, readPayload, type Form } from "../../text/content";
import { parseDuration } from "../../text/duration";
import { parseTime } from "../../text/time";

export interface EnqueueDraft {
  payload: string;
  form: Form;
  contentType: string;
  headers: string;
  key: string;
  keyPolicy: string;
  priority: string;
  delay: string;
  time: string;
  maxAttempts: string;
  period: string;
  cron: string;
  timeZone: string;
  stage: string;
  version: string;
}

export const EMPTY: EnqueueDraft = {
  payload: "", form: "text", contentType: "", headers: "", key: "", keyPolicy: "", priority: "",
  delay: "", time: "", maxAttempts: "", period: "", cron: "", timeZone: "", stage: "", version: "",
};

export type Problems = Partial<Record<keyof EnqueueDraft, string>>;

function wholeOf(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value)) throw new Error(`“${text}” is not a whole number.`);
  return value;
}

/** The task for Enqueue, without what was left empty. */
export function toTask(draft: EnqueueDraft) {
  const task: Record<string, unknown> = {};
  const problems: Problems = {};
  const read = (name: keyof EnqueueDraft, field: string, take: (text: string) => unknown) => {
    const text = draft[name];
    if (name !== "payload" && !text.trim()) return;
    try {
      task[field] = take(text.trim());
    } catch (error) {
      problems[name] = (error as Error).message;
    }
  };
  const as = (text: string) => text;
  read("payload", "payload", () => readPayload(draft));
  read("contentType", "contentType", as);
  read("headers", "headers", readHeaders);
  read("key", "key", as);
  if (draft.key.trim()) read("keyPolicy", "keyPolicy", as);
  read("priority", "priority", wholeOf);
  read("delay", "delay", parseDuration);
  read("time", "scheduleTime", parseTime);
  read("maxAttempts", "maxAttempts", wholeOf);
  read("period", "period", parseDuration);
  read("cron", "cron", as);
  if (draft.cron.trim()) read("timeZone", "timeZone", as);
  read("stage", "stage", as);
  read("version", "version", as);
  if (task.delay && task.scheduleTime) problems.delay = "Give a delay or a time, not both.";
  if (task.period && task.cron) problems.period = "Give a period or a cron schedule, not both.";
  return { task, problems };
}
