import { expect, test } from "vitest";
import { Refusal } from "./api";
import { Bringing, unsent } from "./bringing.svelte";

const file = (name: string) => new File(["x"], name);
const names = (list: readonly File[]) => list.map((f) => f.name);

test("files that are brought while others are sent come behind them, each once", async () => {
  const sent: string[] = [];
  const all: Bringing = new Bringing(async ({ name }) => {
    sent.push(name);
    if (name === "a") {
      all.add([file("c")]);
      await all.goOn();
    }
    return undefined;
  });
  all.add([file("a"), file("b")]);
  await all.goOn();
  expect([sent, names(all.left)]).toEqual([["a", "b", "c"], []]);
});

test("what could not be sent stays with all behind it, and is tried first when it goes on", async () => {
  const sent: string[] = [];
  let away = true;
  const all = new Bringing(async ({ name }) => {
    if (name === "b" && away) return new Refusal(503, "busy", "");
    sent.push(name);
    return undefined;
  });
  all.add([file("a"), file("b"), file("c")]);
  await all.goOn();
  expect(names(all.left)).toEqual(["b", "c"]);
  away = false;
  all.add([file("d")]);
  await all.goOn();
  expect([sent, names(all.left)]).toEqual([["a", "b", "c", "d"], []]);
});

test.each([[415, "", true], [413, "too_large", true], [402, "over_limit", true], [401, "", false], [408, "broken_body", false], [400, "broken_body", false],
  [429, "", false], [500, "", false], [0, "unreachable", false]])("a file that is refused with %i %s is named and left out: %s", async (status, kind, out) => {
  const all = new Bringing(async ({ name }) => (name === "a" ? new Refusal(status, kind, "No.") : undefined));
  all.add([file("a"), file("b")]);
  await all.goOn();
  expect([all.refused.map((r) => r.name), names(all.left)]).toEqual(out ? [["a"], []] : [[], ["a", "b"]]);
  all.add([file("c")]);
  expect(all.refused).toEqual([]);
});

test.each([["sent", "sent", ""], ["sent\nand more", "sent", "and more"], ["other words", "sent", "other words"], ["", "sent", ""]])("of %j, when %j was sent, %j is left", (words, sent, left) => {
  expect(unsent(words, sent)).toBe(left);
});
