// What operators changed. The filter is in the address.
import { useState } from "preact/hooks";
import { admin } from "../api/call";
import { useLive } from "../api/live";
import type { AuditRecord } from "../api/messages/report";
import { setQuery, usePlace } from "../app/router";
import { Shown } from "../parts/failure";
import { Field } from "../parts/field";
import { Page } from "../parts/page";
import { Pager } from "../parts/pager";
import { AuditTable } from "../parts/audit_table";
import { parseTime, timeField } from "../text/time";

const TEXTS: [string, string, string][] = [
  ["queue", "Queue", ""],
  ["task", "Task", "Only changes that named it"],
  ["actor", "Actor", "As the column has it, whole"],
];
const TIMES: [string, string][] = [["from", "From"], ["to", "To"]];

interface Answer {
  records?: AuditRecord[];
  nextPageToken?: string;
}

export function Audit() {
  const { query } = usePlace();
  const after = query.get("after") ?? "";
  const request = {
    queue: query.get("queue") ?? "",
    taskId: query.get("task") ?? "",
    actor: query.get("actor") ?? "",
    startTime: query.get("from") || undefined,
    endTime: query.get("to") || undefined,
    pageToken: after,
  };
  const live = useLive(
    (signal) => admin<Answer>("ListAuditRecords", request, signal), [request]);
  return (
    <Page title="Audit">
      <Filter key={query.toString()} />
      <Shown live={live}>
        {({ records, nextPageToken }) => (
          <AuditTable of={records ?? []} isMore={!!nextPageToken} />
        )}
      </Shown>
      <Pager after={after} next={live.value?.nextPageToken} what="audit records" />
    </Page>
  );
}

function Filter() {
  const { query } = usePlace();
  const [draft, setDraft] = useState<Record<string, string>>(() => Object.fromEntries([
    ...TEXTS.map(([name]) => [name, query.get(name) ?? ""]),
    ...TIMES.map(([name]) => [name, safeTime(query.get(name))]),
  ]));
  const put = (name: string) => (value: string) => setDraft({ ...draft, [name]: value });

  function apply(event: Event) {
    event.preventDefault();
    const time = (name: string) => (draft[name] ? parseTime(draft[name]!) : undefined);
    const texts = Object.fromEntries(TEXTS.map(([name]) => [name, draft[name]!.trim()]));
    setQuery({ ...texts, from: time("from"), to: time("to"), after: undefined });
  }

  return (
    <form class="bar" role="search" aria-label="Filter of audit records" onSubmit={apply}>
      {TEXTS.map(([name, label, help]) => (
        <Field key={name} id={`audit-${name}`} label={label} value={draft[name]!}
          onInput={put(name)} help={help} />
      ))}
      {TIMES.map(([name, label]) => (
        <Field key={name} id={`audit-${name}`} label={label} type="datetime-local"
          value={draft[name]!} onInput={put(name)} />
      ))}
      <button type="submit" class="main">Filter</button>
    </form>
  );
}

function safeTime(text: string | null): string {
  return text && !Number.isNaN(Date.parse(text)) ? timeField(text) : "";
}
