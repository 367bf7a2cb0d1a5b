// Addresses below /dashboard/: what is shown can be shared, and "back" works.
import { makeStore, useStore } from "../api/store";

export const BASE = "/dashboard/";

export interface Place {
  /** Decoded parts of the path below BASE. */
  parts: string[];
  query: URLSearchParams;
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // a broken address names nothing that exists
  }
}

function read(): Place {
  const path = location.pathname.startsWith(BASE) ? location.pathname.slice(BASE.length) : "";
  return {
    parts: path.split("/").filter(Boolean).map(decode),
    query: new URLSearchParams(location.search),
  };
}

export const place = makeStore<Place>(read());
/** Grows when another page is shown, not when its filter changes. */
export const arrivals = makeStore(0);

function show(): void {
  const before = place.get().parts.join("/");
  place.set(read());
  if (place.get().parts.join("/") !== before) arrivals.set(arrivals.get() + 1);
}

export function usePlace(): Place {
  return useStore(place);
}

export function navigate(address: string, isReplaced = false): void {
  if (isReplaced) history.replaceState(null, "", address);
  else history.pushState(null, "", address);
  show();
  if (!isReplaced) scrollTo(0, 0);
}

export type Query = Record<string, string | number | string[] | undefined>;

/** An address below BASE. Empty values are left out. */
export function to(parts: string[], query: Query = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const item of Array.isArray(value) ? value : [value]) {
      if (item !== undefined && item !== "") search.append(name, String(item));
    }
  }
  const text = search.toString();
  return BASE + parts.map(encodeURIComponent).join("/") + (text ? `?${text}` : "");
}

/** The page of a queue. Its name is never the last part: it may have a dot, as files have. */
export function toQueue(queue: string, page = "status", query: Query = {}): string {
  return to(["queues", queue, page], query);
}

export function toTask(taskId: string): string {
  return to(["tasks", taskId]);
}

/** The same page with some of its query changed. */
export function setQuery(changes: Query, isReplaced = false): void {
  const { parts, query } = place.get();
  const merged: Query = {};
  for (const name of new Set(query.keys())) merged[name] = query.getAll(name);
  navigate(to(parts, { ...merged, ...changes }), isReplaced);
}

function isOurs(event: MouseEvent, link: HTMLAnchorElement): boolean {
  const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey
    && !event.altKey;
  return isPlain && !link.target && link.origin === location.origin
    && link.pathname.startsWith(BASE) && !link.hasAttribute("download")
    && !link.getAttribute("href")?.startsWith("#");
}

export function startRouter(): void {
  addEventListener("popstate", show);
  document.addEventListener("click", (event) => {
    const link = (event.target as Element).closest?.("a");
    if (event.defaultPrevented || !link || !isOurs(event, link)) return;
    event.preventDefault();
    navigate(link.href);
  });
}
