// The stages of a queue as fields: names, times and retries of their own.
import { Check, Field } from "../../parts/field";
import { RETRY_FIELDS, STAGE_FIELDS, type SettingField } from "./setting_fields";
import { SettingInput } from "./setting_input";
import { newStage, OWN_RETRY, problemOf, withRetry, type StageDraft } from "./stage_draft";

interface Props {
  of: StageDraft[];
  /** What was typed for the queue itself. */
  queue: Record<string, string>;
  problems: Record<string, string>;
  onInput: (stages: StageDraft[]) => void;
  isDisabled: boolean;
}

export function StageFields({ of, queue, problems, onInput, isDisabled }: Props) {
  const put = (index: number) => (texts: Record<string, string>) =>
    onInput(of.map((stage, at) => (at === index ? { ...stage, texts } : stage)));
  return (
    <fieldset>
      <legend>Stages</legend>
      {of.length === 0 && <p class="none">None: the queue is one step.</p>}
      {of.map(({ texts }, index) => (
        <OneStage key={index} index={index} texts={texts} queue={queue} problems={problems}
          put={put(index)} isDisabled={isDisabled} />
      ))}
      {!isDisabled && (
        <button type="button" onClick={() => onInput([...of, newStage()])}>Add a stage</button>
      )}
      <p class="help">
        Stages can be added at the end and renamed; none can be removed. What is empty is as of the
        queue.
      </p>
    </fieldset>
  );
}

interface OneProps {
  index: number;
  texts: Record<string, string>;
  queue: Record<string, string>;
  problems: Record<string, string>;
  put: (texts: Record<string, string>) => void;
  isDisabled: boolean;
}

function OneStage({ index, texts, queue, problems, put, isDisabled }: OneProps) {
  const input = (field: SettingField) => (
    <SettingInput key={field.path} of={field} prefix={`stage-${index}`} value={texts[field.path]!}
      isDisabled={isDisabled} problem={problems[problemOf(index, field.path)]}
      onInput={(text) => put({ ...texts, [field.path]: text })} />
  );
  const hasRetry = texts[OWN_RETRY] === "yes";
  return (
    <div class="stage" role="group" aria-label={`Stage ${index + 1}`}>
      <div class="fields">
        <Field id={`stage-${index}`} label={`Stage ${index + 1}`} value={texts.name!}
          isDisabled={isDisabled} onInput={(name) => put({ ...texts, name })} />
        {STAGE_FIELDS.map(input)}
        <Check id={`stage-${index}-own-retry`} label="Retries of its own" isOn={hasRetry}
          isDisabled={isDisabled} onInput={(isOn) => put(withRetry(texts, isOn, queue))} />
      </div>
      {hasRetry && <div class="fields">{RETRY_FIELDS.map(input)}</div>}
    </div>
  );
}
