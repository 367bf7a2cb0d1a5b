// The stages of a queue: they may be renamed and added at the end. What else a stage has stays.
import type { Stage } from "../../api/messages/queue";
import { Field } from "../../parts/field";
import { durationField, parseDuration } from "../../text/duration";

export interface StageDraft {
  name: string;
  lease: string;
  run: string;
  /** As it came: its retries are not changed here. */
  stage: Stage | null;
}

export function readStages(stages: Stage[] | undefined): StageDraft[] {
  return (stages ?? []).map((stage) => ({
    name: stage.name,
    lease: durationField(stage.leaseDuration),
    run: durationField(stage.maxRunDuration),
    stage,
  }));
}

/** Throws a text for people. New ones without a name are left out. */
export function writeStages(drafts: StageDraft[]): Stage[] {
  return drafts.filter(({ name, stage }) => stage || name.trim()).map((draft) => ({
    ...draft.stage,
    name: draft.name.trim(),
    leaseDuration: draft.lease.trim() ? parseDuration(draft.lease) : undefined,
    maxRunDuration: draft.run.trim() ? parseDuration(draft.run) : undefined,
  }));
}

export function StageFields({ of, onInput, isDisabled }:
  { of: StageDraft[]; onInput: (stages: StageDraft[]) => void; isDisabled: boolean }) {
  const put = (index: number, changes: Partial<StageDraft>) =>
    onInput(of.map((stage, at) => (at === index ? { ...stage, ...changes } : stage)));
  return (
    <fieldset>
      <legend>Stages</legend>
      {of.length === 0 && <p class="none">None: the queue is one step.</p>}
      {of.map((stage, index) => (
        <div key={index} class="fields" role="group" aria-label={`Stage ${index + 1}`}>
          <Field id={`stage-${index}`} label={`Stage ${index + 1}`} value={stage.name}
            isDisabled={isDisabled} onInput={(name) => put(index, { name })} />
          <Field id={`stage-${index}-lease`} label="Lease duration" value={stage.lease}
            isDisabled={isDisabled} onInput={(lease) => put(index, { lease })} />
          <Field id={`stage-${index}-run`} label="Longest run" value={stage.run}
            isDisabled={isDisabled} onInput={(run) => put(index, { run })} />
        </div>
      ))}
      {!isDisabled && (
        <button type="button"
          onClick={() => onInput([...of, { name: "", lease: "", run: "", stage: null }])}>
          Add a stage
        </button>
      )}
      <p class="help">Stages can be added at the end and renamed; none can be removed.</p>
    </fieldset>
  );
}
