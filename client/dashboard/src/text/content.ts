// A payload with its content type and headers, as somebody types them, and as the API has them.
import { asUtf8, fromBase64, toBase64 } from "./bytes";

export type Form = "text" | "json" | "base64" | "hex";

export interface ContentDraft {
  payload: string;
  form: Form;
  contentType: string;
  headers: string;
}

interface Content {
  payload?: string;
  contentType?: string;
  headers?: Record<string, string>;
}

export const NO_CONTENT: ContentDraft = { payload: "", form: "text", contentType: "", headers: "" };
const FORM_NAMES: Record<Form, string> = {
  text: "text", json: "JSON", base64: "base64", hex: "hex, two digits for each byte",
};
const ROW_BYTES = 16;
// A field for text changes line ends that are not its own, and others cannot be seen.
const NOT_TYPED = new RegExp("[\\u0000-\\u0008\\u000b-\\u001f\\u007f\\ufeff]");

function hexOf(data: Uint8Array): string {
  const bytes = [...data].map((byte) => byte.toString(16).padStart(2, "0"));
  const rows: string[] = [];
  for (let at = 0; at < bytes.length; at += ROW_BYTES) {
    rows.push(bytes.slice(at, at + ROW_BYTES).join(" "));
  }
  return rows.join("\n");
}

function fromHex(text: string): Uint8Array {
  if (!/^([0-9a-f]{2})*$/i.test(text)) throw new Error("not hex");
  return Uint8Array.from(text.match(/../g) ?? [], (byte) => parseInt(byte, 16));
}

/** In base64; throws a text for people. */
export function readPayload({ payload, form }: Pick<ContentDraft, "payload" | "form">): string {
  const packed = payload.replace(/\s+/g, "");
  try {
    if (form === "hex") return toBase64(fromHex(packed));
    if (form === "base64") return toBase64(fromBase64(packed));
    if (form === "json") JSON.parse(payload);
  } catch {
    throw new Error(`This is no ${FORM_NAMES[form]}.`);
  }
  return toBase64(new TextEncoder().encode(payload));
}

/** One per line, or, for names and values that lines cannot hold, as an object in JSON. */
export function readHeaders(text: string): Record<string, string> {
  if (text.trim().startsWith("{")) return readObject(text);
  return Object.fromEntries(text.split("\n").filter((line) => line.trim()).map((line) => {
    const colon = line.indexOf(":");
    if (colon < 1) throw new Error(`“${line}”: write a header as name: value.`);
    return [line.slice(0, colon).trim(), line.slice(colon + 1).trim()];
  }));
}

function readObject(text: string): Record<string, string> {
  let found: unknown;
  try {
    found = JSON.parse(text);
  } catch {
    throw new Error("This begins like JSON and is none.");
  }
  if (Object.values(found as object).some((value) => typeof value !== "string")) {
    throw new Error("Each value has to be a text in quotes.");
  }
  return found as Record<string, string>;
}

function headersText(headers: Record<string, string>): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`).join("\n");
  try {
    const same = (of: Record<string, string>) => JSON.stringify(Object.entries(of).sort());
    if (!NOT_TYPED.test(lines) && same(readHeaders(lines)) === same(headers)) return lines;
  } catch {
    // Lines cannot hold them.
  }
  return JSON.stringify(headers, null, 2);
}

/** As a person can change it without changing what was not touched. */
export function draftOf({ payload, contentType, headers }: Content): ContentDraft {
  const text = asUtf8(fromBase64(payload));
  const isTyped = text !== null && !NOT_TYPED.test(text);
  return {
    payload: isTyped ? text : hexOf(fromBase64(payload)),
    form: isTyped ? "text" : "hex",
    contentType: contentType ?? "",
    headers: headersText(headers ?? {}),
  };
}

/** The same bytes in another form; throws a text for people if they have none there. */
export function inForm(draft: ContentDraft, form: Form): ContentDraft {
  const isText = (one: Form) => one === "text" || one === "json";
  if (isText(draft.form) && isText(form)) return { ...draft, form };
  const base64 = readPayload(draft);
  if (form === "hex") return { ...draft, form, payload: hexOf(fromBase64(base64)) };
  if (form === "base64") return { ...draft, form, payload: base64 };
  const text = asUtf8(fromBase64(base64));
  if (text === null || NOT_TYPED.test(text)) {
    throw new Error("As text these bytes cannot be typed: they stay as they are.");
  }
  return { ...draft, form, payload: text };
}

export type ContentProblems = Partial<Record<keyof ContentDraft, string>>;

/** For the API; problems by field if something typed cannot be read. */
export function contentOf(draft: ContentDraft) {
  const content: Content = { contentType: draft.contentType.trim() };
  const problems: ContentProblems = {};
  try {
    content.payload = readPayload(draft);
  } catch (error) {
    problems.payload = (error as Error).message;
  }
  try {
    content.headers = readHeaders(draft.headers);
  } catch (error) {
    problems.headers = (error as Error).message;
  }
  return { content, problems };
}
