// Which page an address shows.
import type { VNode } from "preact";
import { Page } from "../parts/page";
import { Audit } from "../pages/audit";
import { Brokers } from "../pages/brokers";
import { Errors } from "../pages/errors/errors";
import { Me } from "../pages/me";
import { Operation } from "../pages/operations/operation";
import { Operations } from "../pages/operations/operations";
import { Overview } from "../pages/overview/overview";
import { QueuePage } from "../pages/queue/queue_page";
import { Schedules } from "../pages/schedules/schedules";
import { TaskPage } from "../pages/task/task_page";
import { AllTasks } from "../pages/tasks/all_tasks";
import { Workers } from "../pages/workers";
import { to, usePlace } from "./router";

function pageOf(parts: string[]): VNode {
  const [first = "queues", second, third] = parts;
  const isOne = parts.length <= 1;
  const isTwo = parts.length === 2;
  if (first === "queues" && isOne) return <Overview />;
  if (first === "queues" && second && parts.length <= 3) {
    return <QueuePage key={second} name={second} tab={third ?? "status"} />;
  }
  if (first === "tasks" && isOne) return <AllTasks />;
  if (first === "tasks" && second && isTwo) return <TaskPage key={second} taskId={second} />;
  if (first === "operations" && isOne) return <Operations />;
  if (first === "operations" && second && isTwo) {
    return <Operation key={second} operationId={second} />;
  }
  if (first === "errors" && isOne) return <Errors />;
  if (first === "schedules" && isOne) return <Schedules />;
  if (first === "workers" && isOne) return <Workers />;
  if (first === "brokers" && isOne) return <Brokers />;
  if (first === "audit" && isOne) return <Audit />;
  if (first === "me" && isOne) return <Me />;
  return <Nowhere />;
}

function Nowhere() {
  return (
    <Page title="No such page">
      <p>No page has this address. <a href={to([])}>All queues</a></p>
    </Page>
  );
}

export function Shown() {
  return pageOf(usePlace().parts);
}
