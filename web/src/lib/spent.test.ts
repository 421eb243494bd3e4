import { expect, test } from "vitest";
import { spentBy } from "./spent";

const used = (model: string, tokens: number, cost?: number) => ({ model, input_tokens: tokens, output_tokens: 0, ...(cost === undefined ? {} : { cost }) });

test("each day has its bar, as high as it is of the dearest one, parted by models", () => {
  const spent = spentBy([{ day: "2026-03-01", runs: 2, used: [used("a", 10, 1), used("b", 5, 3)] }, { day: "2026-02-27", runs: 1, used: [used("a", 10, 2)] }], new Date(2026, 2, 1, 23), 4);
  expect(spent.models.map((m) => m.model)).toEqual(["a", "b"]);
  expect(spent.bars.map((b) => b.day)).toEqual(["2026-02-26", "2026-02-27", "2026-02-28", "2026-03-01"]);
  expect(spent.bars.map((b) => b.parts)).toEqual([[0, 0], [0.5, 0], [0, 0], [0.25, 0.75]]);
  expect([spent.cost, spent.tokens]).toEqual([6, 25]);
});

test("where nothing has a price the bars are of tokens", () => {
  const spent = spentBy([{ day: "2026-03-01", runs: 1, used: [used("a", 10), used("b", 30)] }], new Date(2026, 2, 1), 1);
  expect(spent.bars[0]!.parts).toEqual([0.75, 0.25]);
  expect(spent.models.map((m) => [m.model, m.priced])).toEqual([["b", false], ["a", false]]);
});

test("what a day cost is not said where nothing of it has a price, and which models are not in the cost is told", () => {
  const spent = spentBy([{ day: "2026-03-01", runs: 1, used: [used("a", 10)] }, { day: "2026-02-28", runs: 1, used: [used("a", 10), used("b", 30, 0)] }], new Date(2026, 2, 1), 2);
  expect(spent.bars.map((b) => b.priced)).toEqual([true, false]);
  expect(spent.unpriced).toEqual(["a"]);
});

test("where nothing was asked there are days without anything", () => {
  const spent = spentBy([], new Date(2026, 2, 1), 3);
  expect(spent.bars.map((b) => b.parts)).toEqual([[], [], []]);
});
