// The brokers of this database, and what the one that answers is.
import { admin } from "../api/call";
import { useLive } from "../api/live";
import type { BrokerInfo, ServerInfo, TableSize } from "../api/messages/report";
import { Shown } from "../parts/failure";
import { Foreign } from "../parts/foreign";
import { Facts, Page, Section } from "../parts/page";
import { Table } from "../parts/table";
import { Time } from "../parts/time";
import { bytes, count, number } from "../text/number";

const SIZES_PERIOD_MS = 10_000;
const BROKER_COLUMNS = [
  { name: "name", title: "Name" },
  { name: "version", title: "Version" },
  { name: "start", title: "Started" },
  { name: "expire", title: "Counts as gone" },
  { name: "role", title: "Role" },
];
const TABLE_COLUMNS = [
  { name: "table", title: "Table" },
  { name: "rows", title: "Rows", isNumber: true },
  { name: "large", title: "Large values", isNumber: true },
  { name: "indexes", title: "Indexes", isNumber: true },
  { name: "dead", title: "Dead rows", isNumber: true },
];

export function Brokers() {
  const live = useLive(
    (signal) => admin<{ brokers?: BrokerInfo[] }>("ListBrokers", {}, signal), []);
  return (
    <Page title="Brokers">
      <Shown live={live}>{({ brokers }) => <><List of={brokers ?? []} /><Server /></>}</Shown>
    </Page>
  );
}

function List({ of }: { of: BrokerInfo[] }) {
  return (
    <Table label="Brokers" columns={BROKER_COLUMNS}>
      {of.map((broker) => (
        <tr key={broker.brokerId}>
          <th scope="row"><Foreign text={broker.name} /></th>
          <td>{broker.version || "before 0.2"}</td>
          <td><Time at={broker.startTime} /></td>
          <td><Time at={broker.expireTime} /></td>
          <td>
            {broker.isLeader && <span class="tag">does the chores</span>}{" "}
            {broker.isThis && <span class="tag">answers this page</span>}
          </td>
        </tr>
      ))}
    </Table>
  );
}

function Server() {
  const live = useLive(
    (signal) => admin<{ info: ServerInfo }>("GetServerInfo", {}, signal), [],
    { period: SIZES_PERIOD_MS });
  return <Shown live={live}>{({ info }) => <Told info={info} />}</Shown>;
}

function Told({ info }: { info: ServerInfo }) {
  const tables = [...(info.tables ?? [])].sort((one, other) => whole(other) - whole(one));
  return (
    <>
      <Section title="The broker that answers">
        <Facts rows={[
          ["Name", <Foreign text={info.brokerName} />],
          ["Version", `${info.version}, commit ${info.commit}`],
          ["Started", <Time at={info.startTime} isFull />],
          ["Database", `PostgreSQL ${info.databaseVersion}`],
          ["Schema", info.schemaVersion],
          ["Size of the database", bytes(info.databaseBytes)],
          ["Its connections", info.databaseConnections],
          ["Largest payload", bytes(info.maxPayloadBytes)],
          ["Largest request", bytes(info.maxRequestBytes)],
        ]} />
      </Section>
      <Section title="Tables">
        <Table label="Sizes of tables" columns={TABLE_COLUMNS}>
          {tables.map((table) => (
            <tr key={table.table}>
              <th scope="row"><code>{table.table}</code></th>
              <td class="number">{bytes(table.rowBytes)}</td>
              <td class="number">{bytes(table.toastBytes)}</td>
              <td class="number">{bytes(table.indexBytes)}</td>
              <td class="number">{count(table.deadRowCount)}</td>
            </tr>
          ))}
        </Table>
      </Section>
    </>
  );
}

function whole(table: TableSize): number {
  return number(table.rowBytes) + number(table.toastBytes) + number(table.indexBytes);
}
