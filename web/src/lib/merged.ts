import type { Form } from "./api";

type Row = Form<"Run">;

/** Rows that were fetched, with what was told of them meanwhile: of each run the row that knows more of it, and runs that began since. */
export function merged(fetched: readonly Row[], told: readonly Row[]): Row[] {
  const newer = new Map(told.map((row) => [row.id, row]));
  const all = fetched.map((row) => {
    const other = newer.get(row.id);
    newer.delete(row.id);
    return other && other.records >= row.records ? other : row;
  });
  return [...all, ...newer.values()];
}
