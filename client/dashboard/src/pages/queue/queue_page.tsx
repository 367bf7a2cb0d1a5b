// One queue: its pages share its name, its pause and the way from one to the other.
import { useState } from "preact/hooks";
import { useMay } from "../../api/access";
import { admin, change } from "../../api/call";
import { useLive } from "../../api/live";
import type { Queue } from "../../api/messages/queue";
import { asRefusal } from "../../api/refusal";
import { useQueueNews } from "../../api/watch/use_watch";
import { tell, tellError } from "../../app/notices";
import { to, toQueue } from "../../app/router";
import { Shown } from "../../parts/failure";
import { Foreign } from "../../parts/foreign";
import { Page } from "../../parts/page";
import { pauseName } from "../../text/names";
import { ErrorGroups } from "../errors/errors";
import { ScheduleList } from "../schedules/schedules";
import { TaskList } from "../tasks/task_list";
import { DeleteDialog } from "./delete_dialog";
import { EnqueueForm } from "./enqueue_form";
import { PauseDialog } from "./pause_dialog";
import { SettingsForm } from "./settings_form";
import { Status } from "./status";

const TABS: [string, string][] = [
  ["status", "Status"], ["tasks", "Tasks"], ["schedules", "Schedules"], ["errors", "Errors"],
  ["enqueue", "Enqueue"], ["settings", "Settings"],
];

export function QueuePage({ name, tab }: { name: string; tab: string }) {
  const live = useLive(
    (signal) => admin<{ queue: Queue }>("GetQueue", { name }, signal), [name],
    { news: useQueueNews(name) });
  const may = useMay();
  const queue = live.value?.queue;
  const title = TABS.find(([part]) => part === tab)?.[1] ?? "Queue";
  return (
    <Page title={`${title} · ${name}`} heading={<Foreign text={name} most={128} />}
      actions={queue && !queue.deleting && may("ADMIN", name)
        && <QueueButtons of={queue} onDone={live.reload} />}>
      {queue && <Paused of={queue} />}
      <nav class="tabs" aria-label="Pages of this queue">
        {TABS.filter(([part]) => part !== "enqueue" || may("ENQUEUE", name)).map(
          ([part, label]) => (
            <a key={part} href={toQueue(name, part)}
              aria-current={part === tab ? "page" : undefined}>{label}</a>
          ))}
      </nav>
      <Shown live={live}>
        {(value) => <Tab tab={tab} queue={value.queue} onChange={live.reload} />}
      </Shown>
    </Page>
  );
}

function Tab({ tab, queue, onChange }: { tab: string; queue: Queue; onChange: () => void }) {
  switch (tab) {
    case "status": return <Status of={queue} />;
    case "tasks": return <TaskList queues={[queue.name]} hasQueues={false} />;
    case "schedules": return <ScheduleList queue={queue.name} />;
    case "errors": return <ErrorGroups queue={queue.name} />;
    case "enqueue": return <EnqueueForm of={queue} />;
    case "settings": return <SettingsForm of={queue} onChange={onChange} />;
    default: return <p>A queue has no such page.</p>;
  }
}

function Paused({ of }: { of: Queue }) {
  if (of.deleting) {
    return (
      <p class="paused">
        <span class="tag warn">being deleted</span> <a href={to(["operations"])}>Operations</a> tell
        how far it is.
      </p>
    );
  }
  const pause = pauseName(of.pauseMode);
  if (!pause) return null;
  return (
    <p class="paused">
      <span class="tag warn">{pause}</span> <Foreign text={of.pauseReason} most={1024} />
    </p>
  );
}

function QueueButtons({ of, onDone }: { of: Queue; onDone: () => void }) {
  const [isDeleting, setIsDeleting] = useState(false);
  return (
    <>
      <PauseButton of={of} onDone={onDone} />
      <button type="button" class="danger" onClick={() => setIsDeleting(true)}>
        Queue: delete…
      </button>
      {isDeleting && <DeleteDialog of={of} onClose={() => setIsDeleting(false)} />}
    </>
  );
}

function PauseButton({ of, onDone }: { of: Queue; onDone: () => void }) {
  const [isAsking, setIsAsking] = useState(false);
  const isPaused = pauseName(of.pauseMode) !== "";

  async function resume() {
    try {
      await change("ResumeQueue", { name: of.name });
      tell(`The queue ${of.name} goes on.`);
    } catch (error) {
      tellError(asRefusal(error).message);
    }
    onDone();
  }

  return (
    <>
      {isPaused && <button type="button" class="main" onClick={() => void resume()}>Resume</button>}
      <button type="button" onClick={() => setIsAsking(true)}>
        {isPaused ? "Change the pause…" : "Pause…"}
      </button>
      {isAsking && <PauseDialog of={of} onDone={onDone} onClose={() => setIsAsking(false)} />}
    </>
  );
}
