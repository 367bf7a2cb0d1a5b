// What operators did to this task.
import { admin } from "../../api/call";
import { useLive } from "../../api/live";
import type { AuditRecord } from "../../api/messages/report";
import { to } from "../../app/router";
import { AuditTable } from "../../parts/audit_table";
import { Section } from "../../parts/page";

const ROWS = 10;
const PERIOD_MS = 10_000;

interface Answer {
  records?: AuditRecord[];
  nextPageToken?: string;
}

export function Changes({ taskId, queue }: { taskId: string; queue: string }) {
  const { value } = useLive(
    (signal) => admin<Answer>("ListAuditRecords", { taskId, queue, pageSize: ROWS }, signal),
    [taskId, queue], { period: PERIOD_MS });
  if (!value?.records?.length) return null;
  return (
    <Section title="Changes by operators">
      <AuditTable of={value.records} isMore={false} />
      {value.nextPageToken && <a href={to(["audit"], { task: taskId, queue })}>All changes</a>}
    </Section>
  );
}
