import { expect, test } from "vitest";
import { backOff, clock, sentences } from "./timing";

test("a length of time is told in minutes and seconds", () => {
  expect([0, 5.9, 61, 3600].map(clock)).toEqual(["0:00", "0:05", "1:01", "60:00"]);
});

test("the sentences of a transcript are all of it, one after the other in time", () => {
  const text = "Tomorrow we talk. About money? Yes!\nAnd so on";
  const all = sentences(text);
  expect(all.map((s) => s.text).join("")).toBe(text);
  expect(all.length).toBe(4);
  expect(all[0]!.from).toBe(0);
  expect(all.at(-1)!.to).toBe(1);
  for (const [i, s] of all.slice(1).entries()) expect(s.from).toBe(all[i]!.to);
  expect(sentences("")).toEqual([]);
});

test("each failure waits longer, up to half a minute", () => {
  expect([0, 1, 2, 9].map(backOff)).toEqual([1000, 2000, 4000, 30_000]);
});
