// A point in time, as the distance from now; its title has the date.
import { local, relative } from "../text/time";

export function Time({ at, isFull = false }: { at: string | undefined; isFull?: boolean }) {
  if (!at) return <span class="none">–</span>;
  const [shown, title] = isFull
    ? [`${local(at)} (${relative(at)})`, at]
    : [relative(at), local(at)];
  return <time dateTime={at} title={title}>{shown}</time>;
}
