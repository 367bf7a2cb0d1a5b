// The frame of a page: its title, which gets the focus when the page is new, and its actions.
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { arrivals } from "../app/router";
import { useStore } from "../api/store";

let shownFor = 0; // the first page keeps the focus where the browser put it

export function Page({ title, heading, actions, children }:
  { title: string; heading?: ComponentChildren; actions?: ComponentChildren;
    children: ComponentChildren }) {
  const arrival = useStore(arrivals);
  const head = useRef<HTMLHeadingElement>(null);

  useEffect(() => void (document.title = `${title} · Skiplane`), [title]);
  useEffect(() => {
    if (arrival === shownFor) return;
    shownFor = arrival;
    head.current?.focus({ preventScroll: true });
  }, [arrival]);

  return (
    <>
      <div class="head">
        <h1 ref={head} tabIndex={-1}>{heading ?? title}</h1>
        {actions && <div class="actions">{actions}</div>}
      </div>
      {children}
    </>
  );
}

/** A part of a page under a heading of its own. */
export function Section({ title, aside, children }:
  { title: string; aside?: ComponentChildren; children: ComponentChildren }) {
  return (
    <section aria-label={title}>
      <div class="head"><h2>{title}</h2>{aside && <div class="actions">{aside}</div>}</div>
      {children}
    </section>
  );
}

/** Names and values. */
export function Facts({ rows }: { rows: [string, ComponentChildren][] }) {
  return (
    <dl class="facts">
      {rows.map(([name, value]) => <div key={name}><dt>{name}</dt><dd>{value}</dd></div>)}
    </dl>
  );
}
