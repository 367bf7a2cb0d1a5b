// Leads through pages that the broker gives one after the other: only forward and to the first.
import { setQuery } from "../app/router";

export function Pager({ after, next, what }:
  { after: string; next: string | undefined; what: string }) {
  if (!after && !next) return null;
  return (
    <nav class="pager" aria-label={`Pages of ${what}`}>
      <button type="button" disabled={!after} onClick={() => setQuery({ after: undefined })}>
        First page
      </button>
      <button type="button" disabled={!after} onClick={() => history.back()}>Back</button>
      <button type="button" disabled={!next} onClick={() => setQuery({ after: next })}>
        Next page
      </button>
    </nav>
  );
}
