// Changes of many tasks, of the last week.
import { admin } from "../../api/call";
import { useLive } from "../../api/live";
import type { BulkOperation } from "../../api/messages/bulk";
import { to, toQueue, usePlace } from "../../app/router";
import { Shown } from "../../parts/failure";
import { Foreign } from "../../parts/foreign";
import { Page } from "../../parts/page";
import { Pager } from "../../parts/pager";
import { Empty, Table } from "../../parts/table";
import { Time } from "../../parts/time";
import { count } from "../../text/number";
import { actionName } from "../../text/names";
import { OperationState } from "./operation_state";

const COLUMNS = [
  { name: "what", title: "Operation" },
  { name: "queue", title: "Queue" },
  { name: "state", title: "State" },
  { name: "matched", title: "Matched", isNumber: true },
  { name: "changed", title: "Changed", isNumber: true },
  { name: "actor", title: "Actor" },
  { name: "began", title: "Began" },
];

interface Answer {
  operations?: BulkOperation[];
  nextPageToken?: string;
}

export function Operations() {
  const after = usePlace().query.get("after") ?? "";
  const live = useLive(
    (signal) => admin<Answer>("ListBulkOperations", { pageToken: after }, signal), [after]);
  return (
    <Page title="Operations">
      <Shown live={live}>{({ operations }) => <List of={operations ?? []} />}</Shown>
      <Pager after={after} next={live.value?.nextPageToken} what="operations" />
    </Page>
  );
}

function List({ of }: { of: BulkOperation[] }) {
  return (
    <Table label="Operations" columns={COLUMNS}>
      {of.map((operation) => (
        <tr key={operation.operationId}>
          <th scope="row">
            <a href={to(["operations", operation.operationId])}>
              {actionName(operation.action)}{operation.dryRun && ": count only"}
            </a>
          </th>
          <td>
            <a href={toQueue(operation.filter.queue ?? "")}>
              <Foreign text={operation.filter.queue} />
            </a>
          </td>
          <td><OperationState of={operation} /></td>
          <td class="number">{count(operation.matchedCount)}</td>
          <td class="number">{operation.dryRun ? "–" : count(operation.changedCount)}</td>
          <td><Foreign text={operation.actor} most={48} /></td>
          <td><Time at={operation.createTime} /></td>
        </tr>
      ))}
      {of.length === 0 && (
        <Empty columns={COLUMNS.length}>No change of many tasks in the last week.</Empty>
      )}
    </Table>
  );
}
