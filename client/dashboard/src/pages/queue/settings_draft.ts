// What somebody typed over the settings of a queue, and what of it is a change.
import type { Queue, QueueSettings } from "../../api/messages/queue";
import { FIELDS, readField, writeField } from "./setting_fields";
import { readStages, rebasedStages, writeStages, type StageDraft } from "./stage_draft";

export interface SettingsDraft {
  texts: Record<string, string>;
  stages: StageDraft[];
}

export function readSettings(settings: QueueSettings): SettingsDraft {
  return {
    texts: Object.fromEntries(FIELDS.map((field) => [field.path, readField(settings, field)])),
    stages: readStages(settings.stages),
  };
}

const same = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

/** Paths of what differs. */
export function changedPaths(from: SettingsDraft, draft: SettingsDraft): string[] {
  const paths = FIELDS.map((field) => field.path).filter(
    (path) => from.texts[path] !== draft.texts[path]);
  return same(from.stages, draft.stages) ? paths : [...paths, "stages"];
}

/** What was changed stays as it was typed; the rest becomes as it is now. */
export function rebased(from: SettingsDraft, draft: SettingsDraft, now: SettingsDraft) {
  const changed = new Set(changedPaths(from, draft));
  return {
    texts: Object.fromEntries(FIELDS.map(({ path }) => [path,
      changed.has(path) ? draft.texts[path]! : now.texts[path]!])),
    stages: rebasedStages(from.stages, draft.stages, now.stages),
  };
}

/** The request; problems of fields by their paths if something typed cannot be read. */
export function toRequest(queue: Queue, draft: SettingsDraft, paths: string[]) {
  const settings: QueueSettings = {};
  const problems: Record<string, string> = {};
  for (const path of paths) {
    try {
      const field = FIELDS.find((known) => known.path === path);
      if (field) writeField(settings, field, draft.texts[path]!);
      else settings.stages = writeStages(draft.stages, problems);
    } catch (error) {
      problems[path] = (error as Error).message;
    }
  }
  const request = { name: queue.name, etag: queue.etag, settings, updateMask: paths.join(",") };
  return { request, problems };
}
