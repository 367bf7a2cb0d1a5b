// The settings of a queue as fields of a form: their paths in the API, and how people write them.
import type { Choice } from "../../parts/field";
import { durationField, parseDuration } from "../../text/duration";

export type Kind = "duration" | "durations" | "number" | "text" | "choice" | "check";

export interface SettingField {
  /** In JSON's spelling, as the mask of UpdateQueue has it. */
  path: string;
  label: string;
  kind: Kind;
  help?: string;
  choices?: Choice[];
}

const HISTORY: Choice[] = [
  ["HISTORY_POLICY_ALL", "all attempts"], ["HISTORY_POLICY_FAILURES", "failures only"],
  ["HISTORY_POLICY_NONE", "none"],
];

export const GROUPS: [string, SettingField[]][] = [
  ["Retries", [
    { path: "retry.kind", label: "Kind", kind: "choice", choices: [
      ["RETRY_KIND_LINEAR", "linear"], ["RETRY_KIND_FIXED", "fixed"],
      ["RETRY_KIND_EXPONENTIAL", "exponential"], ["RETRY_KIND_TABLE", "table"]] },
    { path: "retry.maxAttempts", label: "Attempts", kind: "number",
      help: "Of tasks enqueued from now on" },
    { path: "retry.baseDelay", label: "First delay", kind: "duration" },
    { path: "retry.maxDelay", label: "Longest delay", kind: "duration" },
    { path: "retry.factor", label: "Factor", kind: "number", help: "Of exponential delays" },
    { path: "retry.jitter", label: "Jitter", kind: "number", help: "0 to 0.5" },
    { path: "retry.delays", label: "Table of delays", kind: "durations",
      help: "With commas; the last repeats" },
  ]],
  ["Attempts", [
    { path: "leaseDuration", label: "Lease duration", kind: "duration",
      help: "Where a worker names none" },
    { path: "maxRunDuration", label: "Longest run", kind: "duration",
      help: "Then the attempt counts as hanged" },
  ]],
  ["What is kept", [
    { path: "history", label: "History", kind: "choice", choices: HISTORY },
    { path: "periodicHistory", label: "History of periodic tasks", kind: "choice",
      choices: HISTORY },
    { path: "historyDays", label: "Days of history", kind: "number" },
    { path: "failedDays", label: "Days of failed tasks", kind: "number" },
    { path: "keepPayloads", label: "Keep payloads in the history", kind: "check" },
    { path: "keepResults", label: "Keep results in the history", kind: "check" },
  ]],
  ["Limits", [
    { path: "maxPayloadBytes", label: "Largest payload", kind: "number", help: "In bytes" },
    { path: "maxDepth", label: "Most tasks", kind: "text", help: "Unfinished; empty: no limit" },
    { path: "maxBytes", label: "Most bytes", kind: "text", help: "Empty: no limit" },
    { path: "maxEnqueueRate", label: "Most enqueues a second", kind: "number",
      help: "At each broker; empty: no limit" },
    { path: "packing", label: "Packing", kind: "choice", choices: [
      ["PACKING_AUTOMATIC", "automatic"], ["PACKING_OFF", "off"]] },
  ]],
];

export const FIELDS = GROUPS.flatMap(([, fields]) => fields);

/** Those that a stage can have, too. */
export const RETRY_FIELDS = FIELDS.filter(({ path }) => path.startsWith("retry."));
export const STAGE_FIELDS = FIELDS.filter(({ path }) =>
  path === "leaseDuration" || path === "maxRunDuration");

type Values = Record<string, unknown>;

function get(settings: object, path: string): unknown {
  return path.split(".").reduce<unknown>((value, name) => (value as Values | undefined)?.[name],
    settings);
}

/** `settings` are those of a queue, or a stage. */
export function readField(settings: object, field: SettingField): string {
  const value = get(settings, field.path);
  if (field.kind === "duration") return durationField(value as string | undefined);
  if (field.kind === "durations") {
    return ((value as string[] | undefined) ?? []).map(durationField).join(", ");
  }
  if (field.kind === "check") return value ? "yes" : "";
  return value === undefined ? "" : String(value);
}

function parse(field: SettingField, text: string): unknown {
  if (field.kind === "check") return text === "yes";
  if (text.trim() === "") return undefined; // named in the mask and unset: the default
  if (field.kind === "duration") return parseDuration(text);
  if (field.kind === "durations") return text.split(",").map(parseDuration);
  if (field.kind === "number") {
    if (Number.isNaN(Number(text))) throw new Error(`“${text}” is not a number.`);
    return Number(text);
  }
  return text.trim();
}

/** Puts what was typed into `settings`; throws a text for people if it cannot be read. */
export function writeField(settings: object, field: SettingField, text: string): void {
  const names = field.path.split(".");
  const last = names.pop()!;
  let target = settings as Values;
  for (const name of names) target = (target[name] ??= {}) as Values;
  target[last] = parse(field, text);
}
