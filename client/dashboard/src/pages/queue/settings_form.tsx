// The settings of a queue. Only what was changed is sent, with the etag of what it was changed
// from: if somebody else was faster, what was typed is kept.
import { useEffect, useState } from "preact/hooks";
import { useMay } from "../../api/access";
import { change } from "../../api/call";
import type { Queue } from "../../api/messages/queue";
import { asRefusal, type Refusal } from "../../api/refusal";
import { tell } from "../../app/notices";
import { Failure } from "../../parts/failure";
import { Facts } from "../../parts/page";
import { Time } from "../../parts/time";
import { changedPaths, readSettings, rebased, toRequest } from "./settings_draft";
import { SettingInput } from "./setting_input";
import { GROUPS } from "./setting_fields";
import { StageFields } from "./stage_fields";

export function SettingsForm({ of, onChange }: { of: Queue; onChange: () => void }) {
  const isReadOnly = !useMay()("ADMIN", of.name);
  const [from, setFrom] = useState(of);
  const [draft, setDraft] = useState(() => readSettings(of.settings));
  const [problems, setProblems] = useState<Record<string, string>>({});
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  const base = readSettings(from.settings);
  const paths = changedPaths(base, draft);
  const isStale = from.etag !== of.etag;

  useEffect(() => {
    if (isStale && paths.length === 0) load(of, false);
  }, [of.etag]);

  function load(queue: Queue, isKept: boolean) {
    const now = readSettings(queue.settings);
    setDraft(isKept ? rebased(base, draft, now) : now);
    setFrom(queue);
    setRefusal(null);
    setProblems({});
  }

  async function save(event: Event) {
    event.preventDefault();
    const made = toRequest(from, draft, paths);
    setProblems(made.problems);
    setRefusal(null);
    if (Object.keys(made.problems).length > 0) return;
    try {
      const { queue } = await change<{ queue: Queue }>("UpdateQueue", made.request);
      load(queue, false);
      tell(`The settings of ${queue.name} are saved.`);
    } catch (error) {
      setRefusal(asRefusal(error));
    }
    onChange();
  }

  return (
    <form class="settings" onSubmit={save} aria-label="Settings">
      <Facts rows={[
        ["Lanes", of.laneCount], ["Made", <Time at={of.createTime} isFull />],
        ["Last changed", <Time at={of.updateTime} isFull />],
      ]} />
      {isReadOnly && <p class="none">read-only: you may not change this queue.</p>}
      {GROUPS.map(([title, fields]) => (
        <fieldset key={title}>
          <legend>{title}</legend>
          <div class="fields">
            {fields.map((field) => (
              <SettingInput key={field.path} of={field} value={draft.texts[field.path]!}
                isDisabled={isReadOnly} problem={problems[field.path]}
                onInput={(text) => setDraft(
                  { ...draft, texts: { ...draft.texts, [field.path]: text } })} />
            ))}
          </div>
        </fieldset>
      ))}
      <StageFields of={draft.stages} queue={draft.texts} problems={problems} isDisabled={isReadOnly}
        onInput={(stages) => setDraft({ ...draft, stages })} />
      {isStale && paths.length > 0
        ? <Stale onLoad={(isKept) => load(of, isKept)} isRefused={!!refusal} />
        : <Failure of={refusal} />}
      {!isReadOnly && (
        <div class="buttons">
          <button type="submit" class="main" disabled={paths.length === 0}>Save</button>
          <button type="button" disabled={paths.length === 0} onClick={() => load(of, false)}>
            Undo
          </button>
        </div>
      )}
    </form>
  );
}

function Stale({ onLoad, isRefused }:
  { onLoad: (isKept: boolean) => void; isRefused: boolean }) {
  return (
    <div class="failure" role="alert">
      <p>
        <strong>Somebody changed this queue since you began.</strong>{" "}
        {isRefused ? "Nothing was saved. " : ""}What you typed is still here.
      </p>
      <div class="buttons">
        <button type="button" onClick={() => onLoad(true)}>
          Load the new settings, keep my changes
        </button>
        <button type="button" onClick={() => onLoad(false)}>
          Load the new settings, drop my changes
        </button>
      </div>
    </div>
  );
}
