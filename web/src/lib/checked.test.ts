import { expect, test } from "vitest";
import { checkedOf } from "./checked";

test("each source is told once, and what was not read by its place alone", () => {
  const citations = [
    { text: "a.go:1", number: 1, read: true },
    { text: "gone.go:7", number: 2, read: false },
    { text: "a.go line 1", number: 1, read: true },
  ];
  const warnings = ["cited, but not read: gone.go:7", "The answer was cut off.", "of a server that is newer"];
  const warning_codes = [{ why_code: "answer.cited_unread", why_values: {} }, { why_code: "lacks.length" }];
  const checked = checkedOf({ citations, warnings, warning_codes });
  expect(checked.places.map((p) => p.text)).toEqual(["a.go:1", "gone.go:7"]);
  expect(checked.lacks.map((l) => l.why)).toEqual(["The answer was cut off.", "of a server that is newer"]);
});

test("what was not read is told by its words where no place tells it", () => {
  const checked = checkedOf({ warnings: ["cited, but not read: gone.go:7"], warning_codes: [{ why_code: "answer.cited_unread" }] });
  expect(checked.lacks).toHaveLength(1);
});
