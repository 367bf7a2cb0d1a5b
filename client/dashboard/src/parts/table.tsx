// A table whose columns may be sorted. Where it is too wide it scrolls, also by keyboard.
import type { ComponentChildren } from "preact";

export interface Column {
  name: string;
  title: ComponentChildren;
  /** Numbers stand at the right. */
  isNumber?: boolean;
  /** If it is there, the heading is a button. */
  onSort?: () => void;
  sorted?: "ascending" | "descending";
}

export function Table({ label, columns, children }:
  { label: string; columns: Column[]; children: ComponentChildren }) {
  return (
    <div class="scroll" role="region" aria-label={label} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.name} scope="col" class={column.isNumber ? "number" : undefined}
                aria-sort={column.sorted}>
                {column.onSort
                  ? <button type="button" class="sort" onClick={column.onSort}>{column.title}
                      <span aria-hidden="true">{arrow(column.sorted)}</span></button>
                  : column.title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}

function arrow(sorted: Column["sorted"]): string {
  if (!sorted) return "";
  return sorted === "ascending" ? " ↑" : " ↓";
}

export function Empty({ columns, children }: { columns: number; children: ComponentChildren }) {
  return <tr class="empty"><td colSpan={columns}>{children}</td></tr>;
}
