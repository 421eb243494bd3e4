import { expect, test } from "vitest";
import { groupOf } from "./days";

test("a list is parted by the days of who reads it", () => {
  const now = new Date(2026, 2, 30, 0, 5); // the clock was put forward the day before
  const cases: [Date, string][] = [
    [new Date(2026, 2, 30, 0, 1), "today"],
    [new Date(2026, 2, 30, 9, 0), "today"], // of a server whose clock is ahead
    [new Date(2026, 2, 29, 23, 59), "yesterday"],
    [new Date(2026, 2, 29, 0, 0), "yesterday"],
    [new Date(2026, 2, 28, 23, 59), "week"],
    [new Date(2026, 2, 24), "week"],
    [new Date(2026, 2, 23, 23, 0), "month"],
    [new Date(2026, 1, 28), "older"],
  ];
  for (const [at, group] of cases) expect(groupOf(at, now), at.toString()).toBe(group);
});
