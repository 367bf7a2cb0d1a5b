// What surrounds each page: where one can go, who one is, whether the broker answers.
import { useEffect } from "preact/hooks";
import { admin } from "../api/call";
import { away } from "../api/connection";
import { isLive, refreshes, useLive } from "../api/live";
import { who } from "../api/access";
import { logIns } from "../api/log_in";
import { useStore } from "../api/store";
import type { WhoAmI } from "../api/messages/report";
import { Foreign } from "../parts/foreign";
import { Failure } from "../parts/failure";
import { LogIn } from "./login";
import { Notices } from "./notices";
import { Shown } from "./pages";
import { to, usePlace } from "./router";

const PLACES: [string, string][] = [
  ["queues", "Queues"], ["tasks", "Tasks"], ["schedules", "Schedules"], ["errors", "Errors"],
  ["operations", "Operations"], ["workers", "Workers"], ["brokers", "Brokers"], ["audit", "Audit"],
];
const WHO_PERIOD_MS = 60_000; // rules change seldom

export function Shell() {
  const logIn = useStore(logIns);
  const me = useLive((signal) => admin<WhoAmI>("WhoAmI", {}, signal), [logIn],
    { period: WHO_PERIOD_MS });
  const known = useStore(who);

  useEffect(() => {
    if (me.value && JSON.stringify(me.value) !== JSON.stringify(who.get())) who.set(me.value);
  }, [me.value]);

  return (
    <>
      <a class="skip" href="#content">Skip to the content</a>
      <header>
        <a class="brand" href={to([])}>Skiplane</a>
        <Places />
        <Live />
        <a class="who" href={to(["me"])} aria-current={usePlace().parts[0] === "me" && "page"}>
          {known ? <Foreign text={known.principal} most={32} /> : "Who am I"}
        </a>
      </header>
      <Away />
      <Notices />
      <main id="content" tabIndex={-1}>
        {known ? <Shown /> : !me.refusal?.isAway && <Failure of={me.refusal} />}
      </main>
      <LogIn />
    </>
  );
}

function Places() {
  const { parts } = usePlace();
  return (
    <nav aria-label="Pages">
      <ul>
        {PLACES.map(([part, name]) => (
          <li key={part}>
            <a href={part === "queues" ? to([]) : to([part])}
              aria-current={(parts[0] ?? "queues") === part ? "page" : undefined}>{name}</a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

/** Stops the page from moving; while it is stopped, the other button asks once. */
function Live() {
  const live = useStore(isLive);
  return (
    <div class="live">
      <button type="button" class="quiet" aria-pressed={live} onClick={() => isLive.set(!live)}
        title="Whether pages refresh by themselves">
        <span class={live ? "dot on" : "dot"} aria-hidden="true" />Live
      </button>
      {!live && (
        <button type="button" class="quiet" onClick={() => refreshes.set(refreshes.get() + 1)}>
          Refresh
        </button>
      )}
    </div>
  );
}

function Away() {
  const why = useStore(away);
  return (
    <div role="status" aria-live="polite" class="away-place">
      {why !== null && (
        <div class="away">
          <span>
            <strong>The broker does not answer.</strong> What you see may be old. <bdi>{why}</bdi>
            {" "}The page tries again by itself.
          </span>
          <button type="button" onClick={() => refreshes.set(refreshes.get() + 1)}>Try now</button>
        </div>
      )}
    </div>
  );
}
