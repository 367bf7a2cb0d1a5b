// How far a bulk operation is, in a word.
import type { BulkOperation } from "../../api/messages/bulk";
import { word } from "../../text/names";

export function isRunning(operation: BulkOperation | undefined): boolean {
  return operation?.state === "BULK_OPERATION_STATE_RUNNING";
}

export function OperationState({ of }: { of: BulkOperation }) {
  const name = word(of.state, "BULK_OPERATION_STATE_");
  return <span class={`state ${name}`}>{name}</span>;
}
