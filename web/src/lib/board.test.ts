import { expect, test } from "vitest";
import { marked, openGaps, standings, threads, type Clash } from "./board";

const gap = (severity: "low" | "medium" | "high", description: string) => ({ category: "vagueness" as const, severity, description });
const pair = (sequence: number, completenessScore: number, gaps: ReturnType<typeof gap>[]) => ({
  sequence,
  question: "q",
  answer: "a",
  timestamp: "2026-01-01T00:00:00Z",
  providerUsed: "offline:rules",
  gapAnalysis: { gaps, completenessScore, requiresFollowUp: true },
});
const clash = (a: number, b: number): Clash => ({ qaPairIndexes: [a, b], description: "they differ" });

test("gaps are counted by their severity after each answer", () => {
  const pairs = [pair(1, 20, [gap("low", "when"), gap("high", "who"), gap("low", "where")]), pair(2, 60, [])];
  expect(standings(pairs)).toEqual([
    { number: 1, high: 1, medium: 0, low: 2, completeness: 20 },
    { number: 2, high: 0, medium: 0, low: 0, completeness: 60 },
  ]);
  expect(openGaps(pairs)).toEqual([]);
  expect(openGaps(pairs.slice(0, 1)).map((g) => g.description)).toEqual(["who", "when", "where"]);
});

test("threads that meet at an answer lie in different lanes, others share one", () => {
  const laid = threads([clash(4, 0), clash(0, 1), clash(2, 3), clash(1, 1)]);
  expect(laid).toEqual([
    { from: 1, to: 2, lane: 0 },
    { from: 3, to: 4, lane: 0 },
    { from: 1, to: 5, lane: 1 },
  ]);
});

test("words that clash are marked wherever they stand, and nothing is lost", () => {
  expect(marked("in May, not in June; in May", ["May", ""])).toEqual([
    { text: "in ", marked: false },
    { text: "May", marked: true },
    { text: ", not in June; in ", marked: false },
    { text: "May", marked: true },
  ]);
  expect(marked("<b>", ["x"])).toEqual([{ text: "<b>", marked: false }]);
});
