// Makes a queue with default settings; they are changed on its page.
import { useState } from "preact/hooks";
import { change } from "../../api/call";
import { navigate, toQueue } from "../../app/router";
import { tell } from "../../app/notices";
import { Confirm } from "../../parts/confirm";
import { Field } from "../../parts/field";

export function NewQueue({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState("");
  const [lanes, setLanes] = useState("1");

  async function make() {
    await change("CreateQueue", { name: name.trim(), laneCount: Number(lanes), settings: {} });
    tell(`The queue ${name.trim()} exists.`);
    navigate(toQueue(name.trim(), "settings"));
  }

  return (
    <Confirm title="New queue" verb="Make the queue" onDo={make} onClose={onClose}>
      <Field id="new-queue-name" label="Name" value={name} onInput={setName}
        help="Letters, digits, dot, dash and underscore; 128 at most." />
      <Field id="new-queue-lanes" label="Lanes" value={lanes} onInput={setLanes}
        help="1 to 64; cannot be changed later. Order is strict within a lane only." />
    </Confirm>
  );
}
