// All queues. Only a page of them is drawn, so that thousands stay quick.
import { useState } from "preact/hooks";
import { useMay } from "../../api/access";
import type { QueueSummary } from "../../api/messages/queue";
import { useAllQueues } from "../../api/watch/use_watch";
import { setQuery, usePlace } from "../../app/router";
import { Shown } from "../../parts/failure";
import { Field } from "../../parts/field";
import { Page } from "../../parts/page";
import { Empty, Table, type Column } from "../../parts/table";
import { count, plural, rate } from "../../text/number";
import { NewQueue } from "./new_queue";
import { QueueRow } from "./queue_row";
import { filtered, loadSummaries, sorted, total } from "./summaries";

const ROWS = 50;
const COLUMNS: [string, string, string][] = [
  ["ready", "Ready", "Can be leased now"],
  ["delayed", "Delayed", "Wait for their schedule time"],
  ["leased", "Leased", "Held by workers"],
  ["failed", "Failed", "Failed for good, and kept"],
  ["in", "In/s", "Enqueued in a second, mean of a minute"],
  ["done", "Done/s", "Acked in a second, mean of a minute"],
  ["failing", "Failed/s", "Failed for good in a second, mean of a minute"],
  ["oldest", "Oldest ready", "How long the oldest ready task has been due"],
  ["longest", "Longest running", "How long the attempt runs that was leased first"],
];

export function Overview() {
  const live = useAllQueues(loadSummaries);
  const [isMaking, setIsMaking] = useState(false);
  const may = useMay();
  const making = may("ADMIN") && (
    <button type="button" onClick={() => setIsMaking(true)}>New queue…</button>
  );
  return (
    <Page title="Queues" actions={making}>
      <Shown live={live}>{(all) => <Queues all={all} />}</Shown>
      {isMaking && <NewQueue onClose={() => setIsMaking(false)} />}
    </Page>
  );
}

function Queues({ all }: { all: QueueSummary[] }) {
  const { query } = usePlace();
  const name = query.get("name") ?? "";
  const by = query.get("sort") ?? "name";
  const isFalling = query.get("order") === "falling";
  const found = sorted(filtered(all, name), by, isFalling);
  const pages = Math.max(1, Math.ceil(found.length / ROWS));
  const page = Math.min(Math.max(1, Number(query.get("page")) || 1), pages);
  const shown = found.slice((page - 1) * ROWS, page * ROWS);
  return (
    <>
      <Totals of={found} />
      <form class="bar" role="search" onSubmit={(event) => event.preventDefault()}>
        <Field id="name" label="Filter by name" type="search" value={name}
          onInput={(text) => setQuery({ name: text, page: undefined }, true)} />
        <p class="found" role="status">
          {found.length === all.length ? plural(all.length, "queue")
            : `${count(found.length)} of ${plural(all.length, "queue")}`}
        </p>
      </form>
      <Table label="Queues" columns={columns(by, isFalling)}>
        {shown.map((summary) => <QueueRow key={summary.queue} of={summary} />)}
        {shown.length === 0 && (
          <Empty columns={COLUMNS.length + 2}>
            {all.length === 0 ? "There are no queues that you may read."
              : "No queue has this in its name."}
          </Empty>
        )}
      </Table>
      {pages > 1 && <Pages page={page} pages={pages} />}
    </>
  );
}

function columns(by: string, isFalling: boolean): Column[] {
  const column = (name: string, title: string, about?: string): Column => ({
    name,
    title: about ? <abbr title={about}>{title}</abbr> : title,
    isNumber: name !== "name",
    sorted: by !== name ? undefined : isFalling ? "descending" : "ascending",
    // Numbers begin with the largest: that is what one looks for.
    onSort: () => setQuery({
      sort: name === "name" ? undefined : name, page: undefined,
      order: (by === name ? !isFalling : name !== "name") ? "falling" : undefined,
    }, true),
  });
  return [column("name", "Queue"), ...COLUMNS.map((one) => column(...one)),
    { name: "hour", title: "Last hour" }];
}

function Totals({ of }: { of: QueueSummary[] }) {
  return (
    <dl class="totals" aria-label="Sums of these queues">
      {COLUMNS.slice(0, 4).map(([name, title]) => (
        <div key={name}><dt>{title}</dt><dd>{count(total(of, name))}</dd></div>
      ))}
      {COLUMNS.slice(4, 7).map(([name, title]) => (
        <div key={name}><dt>{title}</dt><dd>{rate(total(of, name))}</dd></div>
      ))}
    </dl>
  );
}

function Pages({ page, pages }: { page: number; pages: number }) {
  const go = (to: number) => setQuery({ page: to === 1 ? undefined : to });
  return (
    <nav class="pager" aria-label="Pages of queues">
      <button type="button" disabled={page === 1} onClick={() => go(page - 1)}>Back</button>
      <span>Page {page} of {pages}</span>
      <button type="button" disabled={page === pages} onClick={() => go(page + 1)}>
        Next page
      </button>
    </nav>
  );
}
