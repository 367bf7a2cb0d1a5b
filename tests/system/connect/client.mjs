// Connect's own client calls a broker, and prints what it got as JSON.
// node client.mjs URL DESCRIPTION json|proto, from a folder with the packages.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const require = createRequire(`${process.cwd()}/`);
const load = (name) => import(pathToFileURL(require.resolve(name)));
const { createFileRegistry, fromBinary } = await load("@bufbuild/protobuf");
const { FileDescriptorSetSchema } = await load("@bufbuild/protobuf/wkt");
const { Code, ConnectError, createClient } = await load("@connectrpc/connect");
const { createConnectTransport } = await load("@connectrpc/connect-node");

const [url, description, form] = process.argv.slice(2);
const registry = createFileRegistry(
  fromBinary(FileDescriptorSetSchema, readFileSync(description)));
const transport = createConnectTransport(
  { baseUrl: url, httpVersion: "1.1", useBinaryFormat: form === "proto" });
const clientOf = (service) => createClient(registry.getService(service), transport);
const admin = clientOf("skiplane.v1.AdminService");
const broker = clientOf("skiplane.v1.BrokerService");
const health = clientOf("grpc.health.v1.Health");

const detailsOf = (error, name) => error.findDetails(registry.getMessage(`google.rpc.${name}`));

/** The code, the reason and the field of a refusal: of its details and, if it has any, as plain
 * metadata, which are to be the same. */
async function refusal(call) {
  try {
    await call();
    return "none";
  } catch (error) {
    const refused = ConnectError.from(error);
    const reason = detailsOf(refused, "ErrorInfo")[0]?.reason ?? "";
    const field = detailsOf(refused, "BadRequest")[0]?.fieldViolations[0]?.field ?? "";
    const plain = (name) => refused.metadata.get(`skiplane-${name}`) ?? "";
    if (plain("reason") !== reason || plain("field") !== field) {
      return `${reason} ${field}, but plain ${plain("reason")} ${plain("field")}`;
    }
    return [Code[refused.code], reason, field].join(" ").trimEnd();
  }
}

/** Ends four attempts in one call, each in its own way, with a follow-up and the next lease. */
async function settle(queue) {
  const bodies = ["done", "broken", "back", "wrong"];
  await broker.enqueue({ queue, tasks: bodies.map((text) => ({ payload: bytes(text) })) });
  const { tasks } = await broker.lease({ queues: [{ name: queue }], maxTasks: 4 });
  const [ack, nack, release, wrong] = tasks.map(({ leaseToken }) => ({ leaseToken }));
  const item = (kind, value) => ({ settlement: { case: kind, value } });
  const follow = { queue: `${queue}-next`, payload: bytes("follow") };
  const settled = await broker.settle({
    items: [
      item("ack", { ...ack, followUps: [follow] }),
      item("nack", { ...nack, disposition: FAIL, error: { type: "Broken" } }),
      item("release", release),
      item("ack", { ...wrong, then: { case: "nextStage", value: "nowhere" } }),
    ],
    leaseNext: { queues: [{ name: `${queue}-next` }], maxTasks: 1, wait: { seconds: 60n } },
  });
  return {
    states: settled.results.map((result) => result.state),
    made: settled.results[0].followUps.length,
    refused: `${settled.results[3].refusal.reason} ${settled.results[3].refusal.field}`,
    next: settled.lease.tasks.map((task) => text(task.payload)),
    noLeaseRefusal: settled.leaseRefusal === undefined,
  };
}

/** A worker waits for a task, and a producer for its result; each by a long poll of its own. */
async function handOver(queue) {
  await admin.updateQueue({ name: queue, settings: { keepResults: true } });
  const waiting = broker.lease({ queues: [{ name: queue }], maxTasks: 1, wait: { seconds: 60n } });
  const { results: [made] } = await broker.enqueue({ queue, tasks: [{ key: "k", priority: -1 }] });
  const end = admin.getTask({ queue, key: "k", wait: { seconds: 60n }, view: FULL });
  const { tasks: [task] } = await waiting;
  await broker.ack({ items: [{ leaseToken: task.leaseToken, result: bytes("42") }] });
  const ended = (await end).task;
  return [ended.taskId === made.taskId, ended.state, text(ended.result)];
}

const FAIL = 3, FULL = 2;  // NACK_DISPOSITION_FAIL, TASK_VIEW_FULL
const bytes = (text) => new TextEncoder().encode(text);
const text = (bytes) => new TextDecoder().decode(bytes);
const queue = `javascript-${form}`;
const payload = new Uint8Array([0, 255, 7]);
for (const name of [queue, `${queue}-mixed`, `${queue}-mixed-next`, `${queue}-result`]) {
  await admin.createQueue({ name });
}
await broker.enqueue({ queue, tasks: [{ payload }] });
const lease = await broker.lease({ queues: [{ name: queue }], maxTasks: 5, workerId: "js" });
const items = lease.tasks.map((task) => ({ leaseToken: task.leaseToken }));
const acked = await broker.ack({ items });
const wait = { queues: [{ name: queue }], maxTasks: 1, wait: { seconds: 60n } };
const statuses = [];
for await (const answer of health.watch({})) {
  statuses.push(answer.status);
  break;
}
console.log(JSON.stringify({
  payloads: lease.tasks.map((task) => [...task.payload]),
  outcomes: acked.results.map((result) => result.outcome),
  settled: await settle(`${queue}-mixed`),
  awaited: await handOver(`${queue}-result`),
  unknown: await refusal(
    () => broker.lease({ queues: [{ name: queue }, { name: "no" }], maxTasks: 1 })),
  invalid: await refusal(() => broker.enqueue({ queue })),
  gone: await refusal(() => admin.getTask({ queue, key: "no", wait: { seconds: 60n } })),
  left: await refusal(() => broker.lease(wait, { signal: AbortSignal.timeout(500) })),
  waited: (await broker.lease(wait, { timeoutMs: 2000 })).tasks.length,
  statuses,
}));
process.exit(0);
