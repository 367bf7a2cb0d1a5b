// The stages of a queue as somebody typed them. A stage is known by its place: stages are renamed
// and added at the end, never removed nor moved.
import type { Stage } from "../../api/messages/queue";
import { readField, RETRY_FIELDS, STAGE_FIELDS, writeField } from "./setting_fields";

export interface StageDraft {
  /** By the paths of its fields, with "name", and "yes" for OWN_RETRY. */
  texts: Record<string, string>;
  /** As it came; null if it is new. */
  stage: Stage | null;
}

/** Whether the stage has retries of its own; else it has those of the queue. */
export const OWN_RETRY = "ownRetry";
const FIELDS = [...STAGE_FIELDS, ...RETRY_FIELDS];

export function newStage(): StageDraft {
  const texts = Object.fromEntries(FIELDS.map(({ path }) => [path, ""]));
  return { texts: { ...texts, name: "", [OWN_RETRY]: "" }, stage: null };
}

export function readStages(stages: Stage[] | undefined): StageDraft[] {
  return (stages ?? []).map((stage) => {
    const texts = Object.fromEntries(FIELDS.map((field) => [field.path, readField(stage, field)]));
    return { texts: { ...texts, name: stage.name, [OWN_RETRY]: stage.retry ? "yes" : "" }, stage };
  });
}

/** Begins with the queue's retries: who wants others changes what differs. */
export function withRetry(texts: Record<string, string>, isOwn: boolean,
  queue: Record<string, string>): Record<string, string> {
  const isFirst = isOwn && RETRY_FIELDS.every(({ path }) => !texts[path]);
  const first = isFirst ? RETRY_FIELDS.map(({ path }) => [path, queue[path] ?? ""]) : [];
  return { ...texts, ...Object.fromEntries(first), [OWN_RETRY]: isOwn ? "yes" : "" };
}

/** The name of a problem with a field of a stage. */
export const problemOf = (index: number, path: string) => `stages.${index}.${path}`;

/** New ones without a name are left out. */
export function writeStages(drafts: StageDraft[], problems: Record<string, string>): Stage[] {
  return drafts.flatMap(({ texts, stage }, index) => {
    if (!stage && !texts.name!.trim()) return [];
    const made: Stage = { ...stage, name: texts.name!.trim(), retry: undefined };
    for (const field of texts[OWN_RETRY] ? FIELDS : STAGE_FIELDS) {
      try {
        writeField(made, field, texts[field.path]!);
      } catch (error) {
        problems[problemOf(index, field.path)] = (error as Error).message;
      }
    }
    return [made];
  });
}

/** What was changed stays as it was typed, the rest becomes as it is now; new ones come last. */
export function rebasedStages(from: StageDraft[], draft: StageDraft[], now: StageDraft[]) {
  const kept = now.map((stage, index) => {
    const [before, typed] = [from[index], draft[index]];
    if (!before || !typed) return stage;
    const texts = Object.entries(stage.texts).map(([path, text]) =>
      [path, typed.texts[path] === before.texts[path] ? text : typed.texts[path]!]);
    return { ...stage, texts: Object.fromEntries(texts) as Record<string, string> };
  });
  return [...kept, ...draft.slice(from.length)];
}
