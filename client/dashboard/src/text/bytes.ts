// Bytes of anybody: payloads, results, texts of errors. The API has them in base64.

export function fromBase64(text: string | undefined): Uint8Array {
  const binary = atob(text ?? "");
  const found = new Uint8Array(binary.length);
  for (let index = 0; index < binary.length; index += 1) found[index] = binary.charCodeAt(index);
  return found;
}

export function toBase64(data: Uint8Array): string {
  let binary = "";
  for (let start = 0; start < data.length; start += 0x8000) {
    binary += String.fromCharCode(...data.subarray(start, start + 0x8000));
  }
  return btoa(binary);
}

/** As text; null if it is none. */
export function asUtf8(data: Uint8Array): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(data);
  } catch {
    return null;
  }
}

export function asText(data: Uint8Array): string {
  return new TextDecoder().decode(data);
}

/** Indented; null if it is no JSON. Numbers and double names stay as they were written. */
export function asJson(text: string): string | null {
  try {
    JSON.parse(text);
  } catch {
    return null;
  }
  return indent(text);
}

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

/** Not JSON.stringify(JSON.parse()), which would round large numbers. */
function indent(text: string): string {
  let depth = 0;
  let made = "";
  const line = () => "\n" + "  ".repeat(Math.min(depth, 100));
  let before = "";
  for (const [token] of text.matchAll(TOKEN)) {
    if (token === "}" || token === "]") {
      depth -= 1;
      if (before !== "{" && before !== "[") made += line();
    } else if (before === "{" || before === "[") {
      made += line();
    }
    made += token;
    if (token === "{" || token === "[") depth += 1;
    if (token === ",") made += line();
    if (token === ":") made += " ";
    before = token;
  }
  return made;
}

const ROW = 16;

/** As hex editors show it: where, the bytes, what of them is ASCII. */
export function asHex(data: Uint8Array): string {
  const rows: string[] = [];
  for (let start = 0; start < data.length; start += ROW) {
    const row = [...data.subarray(start, start + ROW)];
    const hex = row.map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
    const ascii = row.map((byte) => (byte >= 32 && byte < 127 ? String.fromCharCode(byte) : "."));
    const where = start.toString(16).padStart(6, "0");
    rows.push(`${where}  ${hex.padEnd(ROW * 3 - 1)}  ${ascii.join("")}`);
  }
  return rows.join("\n");
}
