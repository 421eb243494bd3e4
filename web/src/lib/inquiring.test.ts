import { expect, test } from "vitest";
import { lacksOf, longest } from "./inquiring";

const whole = { hypothesis: "The bridge was closed.", own: false, documents: 0, reading: false, limit: 10 };

test.each([
  [{}, {}],
  [{ hypothesis: " \n" }, { hypothesis: "hypothesis" }],
  [{ hypothesis: "😀".repeat(longest) }, {}],
  [{ hypothesis: "x".repeat(longest + 1) }, { hypothesis: "long" }],
  [{ own: true }, { witness: "documents" }],
  [{ own: true, documents: 1 }, {}],
  [{ own: true, documents: 1, reading: true }, { witness: "reading" }],
  [{ reading: true }, {}],
  [{ limit: null }, { limit: "limit" }],
  [{ limit: 4 }, { limit: "limit" }],
  [{ limit: 21 }, { limit: "limit" }],
  [{ limit: 7.5 }, { limit: "limit" }],
  [{ hypothesis: "", own: true, limit: undefined }, { hypothesis: "hypothesis", witness: "documents", limit: "limit" }],
])("an inquiry with %j lacks %j", (draft, lacks) => {
  expect(lacksOf({ ...whole, ...draft })).toEqual(lacks);
});
