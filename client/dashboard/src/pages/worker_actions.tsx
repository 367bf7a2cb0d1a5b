// What a worker can be asked to do.
import { useState } from "preact/hooks";
import { useMay } from "../api/access";
import { change } from "../api/call";
import type { Worker } from "../api/messages/report";
import { asRefusal } from "../api/refusal";
import { tell, tellError } from "../app/notices";
import { Confirm } from "../parts/confirm";
import { Foreign } from "../parts/foreign";
import { number, plural } from "../text/number";

interface Props {
  of: Worker;
  onDone: () => void;
}

export function WorkerActions({ of, onDone }: Props) {
  const [isAsking, setIsAsking] = useState(false);
  if (!useMay()("ADMIN")) return <span class="none">read-only</span>;
  const name = of.name || of.workerHandle;
  const isRunning = (of.command ?? "WORKER_COMMAND_RUN") === "WORKER_COMMAND_RUN";

  async function ask(command: "RUN" | "QUIET" | "STOP") {
    await change("CommandWorker", {
      workerHandle: of.workerHandle, command: `WORKER_COMMAND_${command}`,
    });
    onDone();
  }

  async function toggle() {
    try {
      await ask(isRunning ? "QUIET" : "RUN");
      tell(isRunning ? `${name} takes no more tasks once it has heard.`
        : `${name} goes on once it has heard.`);
    } catch (error) {
      tellError(asRefusal(error).message);
    }
  }

  return (
    <div class="buttons">
      <button type="button" onClick={() => void toggle()}>{isRunning ? "Quiet" : "Run"}</button>
      <button type="button" onClick={() => setIsAsking(true)}>Stop…</button>
      {isAsking && (
        <Confirm title="Stop this worker" verb="Stop" isDangerous onDo={() => ask("STOP")}
          onClose={() => setIsAsking(false)}>
          <p>
            <Foreign text={name} /> finishes or gives back
            the {plural(number(of.leasedCount), "task")} that it holds, and exits. Nothing here
            starts it again.
          </p>
        </Confirm>
      )}
    </div>
  );
}
