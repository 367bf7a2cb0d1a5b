// Workers whose sessions are alive.
import { admin } from "../api/call";
import { useLive } from "../api/live";
import type { Worker } from "../api/messages/report";
import { to, usePlace } from "../app/router";
import { Shown } from "../parts/failure";
import { Foreign } from "../parts/foreign";
import { Page } from "../parts/page";
import { Pager } from "../parts/pager";
import { Empty, Table } from "../parts/table";
import { Time } from "../parts/time";
import { word } from "../text/names";
import { count, number } from "../text/number";
import { WorkerActions } from "./worker_actions";

const COLUMNS = [
  { name: "name", title: "Name" },
  { name: "handle", title: "Handle" },
  { name: "leased", title: "Holds", isNumber: true },
  { name: "concurrency", title: "At once", isNumber: true },
  { name: "version", title: "Version" },
  { name: "command", title: "Asked to" },
  { name: "create", title: "Session began" },
  { name: "expire", title: "Lost without heartbeat" },
  { name: "actions", title: "Actions" },
];

interface Answer {
  workers?: Worker[];
  nextPageToken?: string;
}

export function Workers() {
  const after = usePlace().query.get("after") ?? "";
  const live = useLive(
    (signal) => admin<Answer>("ListWorkers", { pageToken: after }, signal), [after]);
  return (
    <Page title="Workers">
      <Shown live={live}>{({ workers }) => <List of={workers ?? []} onDone={live.reload} />}</Shown>
      <Pager after={after} next={live.value?.nextPageToken} what="workers" />
    </Page>
  );
}

function Held({ of }: { of: Worker }) {
  return number(of.leasedCount) > 0
    ? <a href={to(["tasks"], { worker: of.workerHandle })}>{count(of.leasedCount)}</a>
    : <>0</>;
}

function List({ of, onDone }: { of: Worker[]; onDone: () => void }) {
  return (
    <Table label="Workers" columns={COLUMNS}>
      {of.map((worker) => (
        <tr key={worker.workerHandle}>
          <th scope="row"><Foreign text={worker.name || "(no name)"} /></th>
          <td><code>{worker.workerHandle}</code></td>
          <td class="number"><Held of={worker} /></td>
          <td class="number">{worker.concurrency || "–"}</td>
          <td><Foreign text={worker.clientVersion || "–"} /></td>
          <td>{word(worker.command, "WORKER_COMMAND_") || "run"}</td>
          <td><Time at={worker.createTime} /></td>
          <td><Time at={worker.expireTime} /></td>
          <td><WorkerActions of={worker} onDone={onDone} /></td>
        </tr>
      ))}
      {of.length === 0 && <Empty columns={COLUMNS.length}>No worker has a session.</Empty>}
    </Table>
  );
}
