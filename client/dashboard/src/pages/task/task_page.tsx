// One task: what it is, why it does not run, what happened to it, and what can be done.
import { useMemo, useState } from "preact/hooks";
import { useLive } from "../../api/live";
import type { Task } from "../../api/messages/task";
import { toQueue } from "../../app/router";
import { Failure, Shown } from "../../parts/failure";
import { Foreign, ForeignBlock } from "../../parts/foreign";
import { Page, Section } from "../../parts/page";
import { State } from "../../parts/state";
import { asText, fromBase64 } from "../../text/bytes";
import { TaskActions } from "../tasks/task_actions";
import { Attempts } from "./attempts";
import { Changes } from "./changes";
import { Content } from "./content";
import { Details } from "./details";
import { Explained } from "./explained";
import { makeLoader } from "./load";
import { NextRuns } from "./next_runs";
import { TaskFormButtons } from "./task_form_buttons";

const ENDED = ["TASK_STATE_SUCCEEDED", "TASK_STATE_FAILED", "TASK_STATE_CANCELLED"];

export function TaskPage({ taskId }: { taskId: string }) {
  const load = useMemo(() => makeLoader(taskId), [taskId]);
  const [isGone, setIsGone] = useState(false);
  const live = useLive(load, [taskId], { isOn: !isGone });
  const { value, refusal } = live;
  if (value && refusal?.isUnknown && !isGone) setIsGone(true);
  const heading = <>Task <span class="id"><Foreign text={taskId} /></span></>;
  if (!value) {
    return (
      <Page title={`Task ${taskId}`} heading={heading}>
        <Shown live={live}>{() => null}</Shown>
      </Page>
    );
  }
  const { task } = value;
  return (
    <Page title={`Task ${taskId}`} heading={heading}
      actions={(
        <>
          {!isGone && <TaskActions tasks={[task]} onDone={live.reload} />}
          <TaskFormButtons of={task} isGone={isGone} hasPayload={value.hasPayload}
            onDone={live.reload} />
        </>
      )}>
      <p class="lead">
        <State of={task.state} />
        {task.recurrence?.paused && <span class="tag warn">paused</span>}
        {task.cancelRequested && <span class="tag warn">to be cancelled</span>}
        {task.rerunPending && <span class="tag">runs once more afterwards</span>}
        <span>in <a href={toQueue(task.queue)}><Foreign text={task.queue} /></a></span>
      </p>
      {isGone && (
        <p class="failure" role="alert">
          This task is no longer known: it was deleted, or it ended and its history is not kept.
          Below is what it was when it was last seen.
        </p>
      )}
      {refusal && !isGone && !refusal.isAway && <Failure of={refusal} />}
      {!isGone && !ENDED.includes(task.state) && <Explained taskId={taskId} />}
      <Details of={task} />
      <LastError of={task} />
      <Content of={task} isShown={value.hasPayload} />
      {task.recurrence && !isGone && <NextRuns of={task} />}
      <Attempts key={value.moreAttempts} taskId={taskId} first={value.attempts}
        next={value.moreAttempts}
        hasPayload={value.hasPayload} />
      <Changes taskId={taskId} queue={task.queue} />
    </Page>
  );
}

function LastError({ of }: { of: Task }) {
  if (!of.lastError) return null;
  const text = asText(fromBase64(of.lastError.text));
  return (
    <Section title="Last error">
      <p>
        <strong><Foreign text={of.lastError.type || "(no type)"} /></strong>
        {of.lastError.fingerprint && (
          <> · <a href={toQueue(of.queue, "tasks", {
            fingerprint: of.lastError.fingerprint,
            state: ["FAILED", "SCHEDULED", "READY", "LEASED"],
          })}>
            Tasks that failed like this
          </a></>
        )}
      </p>
      {text && <ForeignBlock text={text} label="Text of the last error" />}
    </Section>
  );
}
