import { expect, test } from "vitest";
import { changes } from "./lines";

test("what changed is told with the lines around it", () => {
  expect(changes("a\nb\nc\nd\ne", "a\nb\nx\nd\ne", 1)).toEqual([
    { how: "same", text: "b" },
    { how: "gone", text: "c" },
    { how: "added", text: "x" },
    { how: "same", text: "d" },
  ]);
});

test("a text that is the same has no changes, and lines at the ends are told", () => {
  expect(changes("a\nb", "a\nb")).toEqual([]);
  expect(changes("b", "a\nb\nc", 0)).toEqual([
    { how: "added", text: "a" },
    { how: "added", text: "c" },
  ]);
});

test("texts of two thousand lines that are all others are compared", () => {
  const lines = Array.from({ length: 2000 }, (_, i) => `line ${i}`);
  const others = changes(["a", ...lines, "b"].join("\n"), ["a", ...lines.map((l) => l + "!"), "b"].join("\n"), 1);
  expect(others.filter((line) => line.how === "same").map((line) => line.text)).toEqual(["a", "b"]);
});

test("texts of a hundred thousand lines are compared, wherever they differ, though no table of all their pairs would fit", () => {
  const lines = Array.from({ length: 100_000 }, (_, i) => `line ${i}`);
  const other = lines.with(99_990, "another");
  expect(changes(lines.join("\n"), other.join("\n"), 0)).toEqual([
    { how: "gone", text: "line 99990" },
    { how: "added", text: "another" },
  ]);
  expect(changes(lines.join("\n"), lines.map((l) => l + "!").join("\n"), 0).length).toBe(200_000);
});
