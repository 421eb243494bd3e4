import { expect, test } from "vitest";
import { marked, openGaps } from "./board";

const gap = (severity: "low" | "medium" | "high", description: string) => ({ category: "vagueness" as const, severity, description });
const pair = (sequence: number, completenessScore: number, gaps: ReturnType<typeof gap>[]) => ({
  sequence,
  question: "q",
  answer: "a",
  timestamp: "2026-01-01T00:00:00Z",
  providerUsed: "offline:rules",
  gapAnalysis: { gaps, completenessScore, requiresFollowUp: true },
});

test("the gaps after the last answer are open, severe ones first", () => {
  const pairs = [pair(1, 20, [gap("low", "when"), gap("high", "who"), gap("low", "where")]), pair(2, 60, [])];
  expect(openGaps(pairs)).toEqual([]);
  expect(openGaps(pairs.slice(0, 1)).map((g) => g.description)).toEqual(["who", "when", "where"]);
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
