import { expect, test } from "vitest";
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
    return true;
  });
  all.add([file("a"), file("b")]);
  await all.goOn();
  expect([sent, names(all.left)]).toEqual([["a", "b", "c"], []]);
});

test("what could not be sent stays with all behind it, and is tried first when it goes on", async () => {
  const sent: string[] = [];
  let away = true;
  const all = new Bringing(async ({ name }) => {
    if (name === "b" && away) return false;
    sent.push(name);
    return true;
  });
  all.add([file("a"), file("b"), file("c")]);
  await all.goOn();
  expect(names(all.left)).toEqual(["b", "c"]);
  away = false;
  all.add([file("d")]);
  await all.goOn();
  expect([sent, names(all.left)]).toEqual([["a", "b", "c", "d"], []]);
});

test.each([["sent", "sent", ""], ["sent\nand more", "sent", "and more"], ["other words", "sent", "other words"], ["", "sent", ""]])("of %j, when %j was sent, %j is left", (words, sent, left) => {
  expect(unsent(words, sent)).toBe(left);
});
