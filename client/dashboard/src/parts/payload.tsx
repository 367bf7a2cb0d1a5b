// Bytes of a payload or a result: as text, as JSON or as hex.
import { useMemo, useState } from "preact/hooks";
import { asHex, asJson, asText, asUtf8, fromBase64 } from "../text/bytes";
import { bytes as size } from "../text/number";
import { ForeignBlock } from "./foreign";

type Form = "text" | "json" | "hex";

const FORMS: [Form, string][] = [["text", "Text"], ["json", "JSON"], ["hex", "Hex"]];

/** `name` tells it apart from others on the page. */
export function Payload({ base64, name, label, ifEmpty = "Empty" }:
  { base64: string | undefined; name: string; label: string; ifEmpty?: string }) {
  const [chosen, setChosen] = useState<Form | null>(null);
  const { data, text, json } = useMemo(() => {
    const found = fromBase64(base64);
    const utf8 = asUtf8(found);
    return { data: found, text: utf8, json: utf8 === null ? null : asJson(utf8) };
  }, [base64]);
  const form: Form = chosen ?? (json !== null ? "json" : text !== null ? "text" : "hex");
  const shown = useMemo(() => {
    if (form === "hex") return asHex(data);
    return form === "json" && json !== null ? json : text ?? asText(data);
  }, [form, data]);
  if (data.length === 0) return <p class="none">{ifEmpty}</p>;
  return (
    <div class="payload">
      <fieldset class="forms">
        <legend class="unheard">Show the {label.toLowerCase()} as</legend>
        {FORMS.filter(([value]) => value !== "json" || json !== null).map(([value, title]) => (
          <label key={value}>
            <input type="radio" name={`form-${name}`} checked={form === value}
              onChange={() => setChosen(value)} />
            {title}
          </label>
        ))}
        <span class="none">{size(data.length)}{text === null && ", not UTF-8"}</span>
      </fieldset>
      <ForeignBlock key={form} text={shown} label={label} />
    </div>
  );
}
