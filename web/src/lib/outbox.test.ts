import { beforeEach, expect, test, vi } from "vitest";
import { lastUser, signedIn } from "./kept";
import { Refusal } from "./api";
import { letters, onReturned, returned, sendAll, takeBack, write } from "./outbox";

beforeEach(() => {
  const all = new Map<string, string>();
  vi.stubGlobal("localStorage", { getItem: (k: string) => all.get(k) ?? null, setItem: (k: string, v: string) => all.set(k, v), removeItem: (k: string) => all.delete(k) });
  signedIn("ada");
});

test("what was written is sent in its order, once, and in the name of who wrote it", async () => {
  write("one");
  write("two");
  signedIn("eve");
  expect(lastUser()).toBe("eve");
  write("of another");
  const sent: string[] = [];
  await sendAll("ada", async ({ words }) => void sent.push(words));
  await sendAll("ada", async ({ words }) => void sent.push(words));
  expect(sent).toEqual(["one", "two"]);
  expect(letters().map((l) => l.words)).toEqual(["of another"]);
});

test("what could not be sent stays with its key, and what comes behind waits", async () => {
  write("one");
  write("two");
  const keys = letters().map((l) => l.key);
  await expect(sendAll("ada", () => Promise.reject(new Error("away")))).rejects.toThrow("away");
  expect(letters().map((l) => l.key)).toEqual(keys);
  takeBack(keys[0]!);
  expect(letters().map((l) => l.words)).toEqual(["two"]);
});

test("what is damaged is as if nothing was written", () => {
  localStorage.setItem("sibyl.outbox", "{");
  expect(letters()).toEqual([]);
});

test.each([[400, "invalid_request"], [402, "over_limit"], [413, "too_large"]])("what the server refuses with %i is given back, and holds nothing up", async (status, kind) => {
  write("too much");
  write("two");
  const sent: string[] = [];
  const send = async ({ words }: { words: string }) => {
    if (words === "too much") throw new Refusal(status, kind, "No.");
    sent.push(words);
  };
  await sendAll("ada", send);
  await sendAll("ada", send); // it is not tried again
  expect(sent).toEqual(["two"]);
  expect(returned("ada").map((l) => [l.words, l.why.kind, l.why.words])).toEqual([["too much", kind, "No."]]);
  expect(returned("eve")).toEqual([]);
});

test("who shows what is given back is told as soon as it is refused, and no more once it is gone", async () => {
  write("too much");
  write("two");
  const seen: number[] = [];
  const stop = onReturned(() => seen.push(returned("ada").length));
  await sendAll("ada", async ({ words }) => {
    if (words === "too much") throw new Refusal(413, "too_large", "No.");
    seen.push(0); // the second goes after that
  });
  expect(seen).toEqual([1, 0]);
  stop();
  write("three");
  await sendAll("ada", () => Promise.reject(new Refusal(413, "too_large", "No.")));
  expect([seen, returned("ada").length]).toEqual([[1, 0], 2]);
});

test.each([[0, "unreachable"], [401, "unauthorized"], [429, "too_many_requests"], [503, "draining"]])("what can't be sent now, as with %i, stays to be sent", async (status, kind) => {
  write("one");
  await expect(sendAll("ada", () => Promise.reject(new Refusal(status, kind, "")))).rejects.toThrow();
  expect([letters().length, returned("ada").length]).toEqual([1, 0]);
});

test("what has arrived under its key before is not sent again", async () => {
  write("one");
  await sendAll("ada", () => Promise.reject(new Refusal(422, "key_used", "")));
  expect(letters()).toEqual([]);
});
