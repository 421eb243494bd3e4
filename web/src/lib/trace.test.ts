import { expect, test } from "vitest";
import { traceOf } from "./trace";

test("an event is traced by its type and fields, whatever they are", () => {
  const data = { query_type: "code", confidence: 0.9, words: "two words", keywords: ["a", "b"], why: "it is", why_code: "a.b", why_values: { x: {} }, none: "" };
  expect(traceOf({ type: "class.chosen", data })).toBe('class.chosen query_type=code confidence=0.9 words="two words" keywords=["a","b"] why="it is" why_code=a.b none=""');
  expect(traceOf({ type: "of.a.later.server", data: {} })).toBe("of.a.later.server");
  expect(traceOf({ key: "turn", value: "1" })).toBe("turn := 1");
  expect(traceOf({ reason: "nothing to doubt" })).toBe("nothing to doubt");
  expect(traceOf({})).toBe("");
});
