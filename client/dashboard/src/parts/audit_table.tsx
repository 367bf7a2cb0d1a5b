// Changes of operators as rows.
import type { AuditRecord } from "../api/messages/report";
import { toQueue } from "../app/router";
import { count } from "../text/number";
import { Foreign } from "./foreign";
import { Empty, Table } from "./table";
import { Time } from "./time";

const COLUMNS = [
  { name: "when", title: "When" },
  { name: "actor", title: "Actor" },
  { name: "method", title: "Method" },
  { name: "queue", title: "Queue" },
  { name: "changed", title: "Changed", isNumber: true },
  { name: "request", title: "Request" },
];

export function AuditTable({ of, isMore }: { of: AuditRecord[]; isMore: boolean }) {
  return (
    <Table label="Audit records" columns={COLUMNS}>
      {of.map((record, index) => (
        <tr key={`${record.createTime} ${index}`}>
          <td><Time at={record.createTime} /></td>
          <td>
            <Foreign text={record.actor} most={48} />
            {record.claimedActor && record.claimedActor !== record.actor && (
              <> <span class="none">says: <Foreign text={record.claimedActor} /></span></>
            )}
          </td>
          <td>{record.method}</td>
          <td>
            {record.queue && <a href={toQueue(record.queue)}><Foreign text={record.queue} /></a>}
          </td>
          <td class="number">{count(record.changedCount)}</td>
          <td class="long"><code><Foreign text={record.requestJson} most={160} /></code></td>
        </tr>
      ))}
      {of.length === 0 && (
        <Empty columns={COLUMNS.length}>
          {isMore ? "None on this page; the next one may have some." : "No change is recorded."}
        </Empty>
      )}
    </Table>
  );
}
