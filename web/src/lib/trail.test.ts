import { expect, test } from "vitest";
import type { Form } from "./api";
import { above, budgetAt, firedBy, outline, rowsOf, windowOf } from "./trail";

const event = (node: number, of: Partial<Form<"Event">>): Form<"Event"> => ({ node, rule: "Main/X", ...of });
const step = (record: number, ...events: Form<"Event">[]): Form<"Step"> => ({ record, took_in: "", status: "RUNNING", events, started: [], withdrawn: [] });
const node = (at: number, parent: number): Form<"TreeNode"> => ({ node: at, parent, type: "X", rule: "Main/X", leaf: false, says: [] });

const steps = [
  step(0, event(1, { key: "n", value: "1" }), event(2, { type: "class.chosen", data: {} }), event(2, { status: "SUCCESS" })),
  step(2, event(3, { status: "FAILURE" })),
  step(3, event(4, { type: "budget.seen", data: { used: [{ kind: "turns", used: 1, limit: 8 }] } }), event(4, { type: "call.done", data: { tool: "code_search" } }), event(1, { status: "HALTED" })),
];

test("a timeline has what was told, and one row of a step that told nothing", () => {
  expect(rowsOf(steps, false).map((r) => [r.step, r.sort])).toEqual([[0, "class"], [1, "step"], [2, "budget"], [2, "search"]]);
  expect(rowsOf(steps, true).length).toBe(7);
  expect(rowsOf(steps, false, 2).map((r) => r.step)).toEqual([2, 2]);
});

test("the budget is the one that was seen last up to a step", () => {
  expect(budgetAt(steps, 1)).toEqual([]);
  expect(budgetAt(steps, 2)).toEqual([{ kind: "turns", used: 1, limit: 8 }]);
});

test("nodes that act in a step differ from those that acted before it, and lie in nodes above them", () => {
  expect([...firedBy(steps, 0)]).toEqual([[1, "told"], [2, "SUCCESS"]]);
  const last = firedBy(steps, 2);
  expect([last.get(1), last.get(2), last.get(3), last.get(4)]).toEqual(["HALTED", "before", "before", "told"]);
  const nodes = [node(0, -1), node(1, 0), node(2, 0), node(3, 2), node(4, 1)];
  expect([...above(nodes, last)].sort()).toEqual([0, 1]);
  expect(outline(nodes)!.in.map((b) => b.in.length)).toEqual([1, 1]);
});

test("only rows around those that are seen are drawn", () => {
  expect(windowOf(10_000, 36, 36_000, 360, 2)).toEqual({ from: 998, to: 1012 });
  expect(windowOf(3, 36, 0, 360)).toEqual({ from: 0, to: 3 });
  expect(windowOf(0, 36, 500, 360)).toEqual({ from: 0, to: 0 });
});
