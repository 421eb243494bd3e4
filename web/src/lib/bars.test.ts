import { expect, test } from "vitest";
import { roundUp, stack } from "./bars";

test("a scale ends at a round number that holds all", () => {
  expect([0, 0.25, 1, 1.2, 3, 7, 10, 480].map(roundUp)).toEqual([1, 0.4, 1, 2, 4, 8, 10, 600]);
});

test("values of a column are stacked, and nothing has no bar", () => {
  expect(stack([[2, 1], [0, 0], [0, 4]], 4, { left: 0, right: 30, top: 0, bottom: 40 })).toEqual([
    { key: "0-0", of: 0, x: 0, y: 20, height: 20 },
    { key: "0-1", of: 1, x: 0, y: 10, height: 10 },
    { key: "2-1", of: 1, x: 20, y: 0, height: 40 },
  ]);
});
