// A filter in words, for who decides about a change.
import type { TaskFilter } from "../../api/messages/bulk";
import { stateName } from "../../text/names";
import { duration, seconds } from "../../text/duration";
import { local } from "../../text/time";

export function filterFacts(filter: TaskFilter): [string, string][] {
  const facts: [string, string][] = [];
  const add = (name: string, text: string | undefined) => text && facts.push([name, text]);
  add("Queue", filter.queue);
  add("States", filter.states?.map(stateName).join(", "));
  add("Stage", filter.stage);
  add("Key begins with", filter.keyPrefix);
  for (const [name, value] of Object.entries(filter.headers ?? {})) {
    add(`Header ${name}`, value || "(not shown)");
  }
  add("Error type", filter.errorType);
  add("Error group", filter.fingerprint);
  add("Attempts at least", filter.minAttempts ? String(filter.minAttempts) : "");
  add("Priority", filter.priority === undefined ? "" : String(filter.priority));
  add("Periodic", filter.periodic === undefined ? "" : filter.periodic ? "only" : "without");
  add("Older than", filter.minAge && duration(seconds(filter.minAge)));
  add("Younger than", filter.maxAge && duration(seconds(filter.maxAge)));
  add("Enqueued from", filter.startTime && local(filter.startTime));
  add("Enqueued before", filter.endTime && local(filter.endTime));
  add("Payload has", filter.payloadText);
  add("Tasks", filter.taskIds?.join(", "));
  add("All tasks", filter.all ? "yes" : "");
  return facts;
}
