import { expect, test } from "vitest";
import { roundUp } from "./bars";

test("a scale ends at a round number that holds all", () => {
  expect([0, 0.25, 1, 1.2, 3, 7, 10, 480].map(roundUp)).toEqual([1, 0.4, 1, 2, 4, 8, 10, 600]);
});
