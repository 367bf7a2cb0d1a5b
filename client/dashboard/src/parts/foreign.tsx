// Text that others wrote: names, errors, payloads. It is shown as it is and does nothing: its
// direction stays within it, and what cannot be seen is spelled out.
import { useState } from "preact/hooks";
import { plural } from "../text/number";

// Control characters but line ends and tabs, and what changes directions or has no width.
const UNSEEN = new RegExp("[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u00ad\\u061c" +
  "\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\ufeff]", "g");

function spelled(text: string) {
  const parts = [];
  let end = 0;
  for (const match of text.matchAll(UNSEEN)) {
    parts.push(text.slice(end, match.index));
    const code = match[0].charCodeAt(0).toString(16).toUpperCase().padStart(4, "0");
    parts.push(<span class="unseen" title="A character that cannot be seen">U+{code}</span>);
    end = match.index + match[0].length;
  }
  parts.push(text.slice(end));
  return parts;
}

/** Not between the halves of a character. */
function cut(text: string, length: number): string {
  const last = text.charCodeAt(length - 1);
  return text.slice(0, last >= 0xd800 && last < 0xdc00 ? length - 1 : length);
}

/** On one line, cut at `most`; the whole is told by its title. */
export function Foreign({ text, most = 80 }: { text: string | undefined; most?: number }) {
  const whole = (text ?? "").replace(/[\r\n\t]+/g, " ");
  if (whole.length <= most) return <bdi class="foreign">{spelled(whole)}</bdi>;
  return (
    <bdi class="foreign" title={cut(whole, 1000)}>{spelled(cut(whole, most))}…</bdi>
  );
}

/** Of any length, as it is written, with a button for what was cut. */
export function ForeignBlock({ text, label, most = 4000 }:
  { text: string; label: string; most?: number }) {
  const [isWhole, setIsWhole] = useState(false);
  const isCut = text.length > most && !isWhole;
  return (
    <div class="block">
      <pre dir="auto" tabIndex={0} role="region" aria-label={label}>
        {spelled(isCut ? cut(text, most) : text)}
      </pre>
      {isCut && (
        <button type="button" onClick={() => setIsWhole(true)}>
          Show all: {plural(text.length - most, "more character")}
        </button>
      )}
    </div>
  );
}
