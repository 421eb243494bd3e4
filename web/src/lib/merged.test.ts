import { expect, test } from "vitest";
import type { Form } from "./api";
import { merged } from "./merged";

const row = (id: string, records: number, status: Form<"Run">["status"] = "running") => ({ id, records, status }) as Form<"Run">;

test("a run that ended while its list was on the way has ended", () => {
  expect(merged([row("a", 3, "done"), row("b", 2)], [row("b", 5, "done")]).map((r) => [r.id, r.status])).toEqual([
    ["a", "done"],
    ["b", "done"],
  ]);
});

test("what was fetched later than it was told counts, and a run that began since stays", () => {
  expect(merged([row("a", 9, "done")], [row("a", 4), row("c", 1)]).map((r) => [r.id, r.records])).toEqual([
    ["a", 9],
    ["c", 1],
  ]);
});
