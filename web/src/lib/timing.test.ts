import { expect, test } from "vitest";
import { backOff, clock, sentenceAt, sentences } from "./timing";

test("a length of time is told in minutes and seconds", () => {
  expect([0, 5.9, 61, 3600].map(clock)).toEqual(["0:00", "0:05", "1:01", "60:00"]);
});

test("the sentences of a transcript are all of it, one after the other in time", () => {
  const text = "Tomorrow we talk. About money? Yes!\nAnd so on";
  const all = sentences(text, 90);
  expect(all.map((s) => s.text).join("")).toBe(text);
  expect(all.length).toBe(4);
  expect(all[0]!.from).toBe(0);
  expect(all.at(-1)!.to).toBe(90);
  for (const [i, s] of all.slice(1).entries()) expect(s.from).toBe(all[i]!.to);
  expect(sentences("", 90)).toEqual([]);
});

test("sentences begin when the transcriber says, also where its parts are others", () => {
  const spoken = [
    { text: "We move. And ", seconds: 1 },
    { text: "then", seconds: 5 },
    { text: " we rest. ", seconds: 7 },
    { text: "Well.", seconds: 20 },
  ];
  const all = sentences(spoken.map((s) => s.text).join(""), 30, spoken);
  expect(all.map((s) => [s.text, Math.round(s.from * 100) / 100, Math.round(s.to * 100) / 100])).toEqual([
    ["We move. ", 1, 3.77],
    ["And then we rest. ", 3.77, 20],
    ["Well.", 20, 30],
  ]);
});

test("the sentence that is heard is found by the second", () => {
  const all = sentences("One. Two. Three.", 16);
  expect([0, 4.9, 5, 15.9, 16, 99].map((s) => sentenceAt(all, s))).toEqual([0, 0, 1, 2, -1, -1]);
  expect(sentenceAt(sentences("Late.", 9, [{ text: "Late.", seconds: 4 }]), 1)).toBe(-1);
  expect(sentenceAt([], 1)).toBe(-1);
});

test("each failure waits longer, up to half a minute", () => {
  expect([0, 1, 2, 9].map(backOff)).toEqual([1000, 2000, 4000, 30_000]);
});
