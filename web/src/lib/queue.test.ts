import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Queue, queueAt } from "./queue.svelte";
import { Recall } from "./recall";
import { Writing } from "./writing.svelte";

let drafts: Map<string, string>;
beforeEach(() => {
  drafts = new Map();
  vi.stubGlobal("sessionStorage", {
    getItem: (name: string) => drafts.get(name) ?? null,
    setItem: (name: string, value: string) => drafts.set(name, value),
    removeItem: (name: string) => drafts.delete(name),
  });
});
afterEach(() => vi.unstubAllGlobals());

const queued = (...words: string[]) => {
  const q = new Queue<{ words: string }>("ada.queue");
  for (const one of words) q.add({ words: one });
  return q;
};
const waiting = (q: Queue<{ words: string }>) => q.waiting.map((m) => m.words);

test("what waits is sent in its order, one at a time", async () => {
  const q = queued("first", "second");
  const sent: string[] = [];
  let arrive = (_: boolean) => {};
  const send = (m: { words: string }) => (sent.push(m.words), new Promise<boolean>((done) => (arrive = done)));
  const sending = q.next(send);
  void q.next(send);
  expect([sent, waiting(q)]).toEqual([["first"], ["first", "second"]]);
  expect([q.take(q.sending!), q.take({ words: "first" }), waiting(q)]).toEqual([false, false, ["first", "second"]]); // what is on its way is not taken back
  arrive(true);
  await sending;
  expect(waiting(q)).toEqual(["second"]);
});

test("what is sent while the first question of a conversation arrives waits in that conversation, and begins no other", async () => {
  const fresh = new Queue<{ words: string }>("ada.oracle");
  const sent: string[] = [];
  let begun = "";
  let arrive = () => {};
  const send = (m: { words: string }) => (sent.push(m.words), new Promise<boolean>((done) => (arrive = () => ((begun = "ada.s1"), done(true)))));
  const writing = new Writing("ada.oracle", { files: [], reading: "" }, (w) => fresh.offer(w, send, false, begun), () => {});
  writing.words = "first";
  const pressed = writing.press();
  writing.words = "first second";
  await writing.press();
  arrive();
  await pressed;
  expect([sent, waiting(queueAt("ada.s1")), waiting(fresh), writing.words]).toEqual([["first"], ["second"], [], ""]);
});

test("what waits in a conversation is found there by whoever comes back to it", async () => {
  const before = queueAt<{ words: string }>("ada.s2");
  expect(await before.offer({ words: "later" }, async () => true, true)).toBe(true);
  const after = queueAt<{ words: string }>("ada.s2");
  expect([after.left(), waiting(after)]).toEqual(["", ["later"]]);
});

test("what is refused stays, and waits for the person", async () => {
  const q = queued("first");
  await q.next(async () => false);
  expect([waiting(q), q.held]).toEqual([["first"], true]);
  await q.next(async () => true);
  expect([waiting(q), q.held]).toEqual([[], false]);
});

test("what is taken back is not sent", async () => {
  const q = queued("first", "second");
  expect(q.take(q.waiting[0]!)).toBe(true);
  const sent: string[] = [];
  await q.next(async (m) => (sent.push(m.words), true));
  expect(sent).toEqual(["second"]);
});

test("the words that waited are there after a reload, once", () => {
  queued("first", "second");
  const after = new Queue("ada.queue");
  expect([after.left(), after.left()]).toEqual(["first\n\nsecond", ""]);
});

test("earlier words are recalled one after the other, and what was begun comes back", () => {
  const r = new Recall("ada");
  for (const words of ["one", "two", "two"]) r.note(words);
  expect([r.older(""), r.older("two"), r.older("one"), r.newer("one"), r.newer("two")]).toEqual(["two", "one", undefined, "two", ""]);
  expect([r.older("other words"), r.newer("other words")]).toEqual([undefined, undefined]);
  expect(new Recall("ada").older("")).toBe("two");
});
