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

async function refusal(call) {
  try {
    await call();
    return "none";
  } catch (error) {
    const refused = ConnectError.from(error);
    const info = registry.getMessage("google.rpc.ErrorInfo");
    return `${Code[refused.code]} ${refused.findDetails(info)[0]?.reason ?? ""}`;
  }
}

const queue = `javascript-${form}`;
const payload = new Uint8Array([0, 255, 7]);
await admin.createQueue({ name: queue });
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
  unknown: await refusal(() => broker.lease({ queues: [{ name: "no" }], maxTasks: 1 })),
  invalid: await refusal(() => broker.enqueue({ queue })),
  left: await refusal(() => broker.lease(wait, { signal: AbortSignal.timeout(500) })),
  waited: (await broker.lease(wait, { timeoutMs: 2000 })).tasks.length,
  statuses,
}));
process.exit(0);
