import { beforeEach, expect, test, vi } from "vitest";
import { lastUser, signedIn } from "./kept";
import { letters, sendAll, takeBack, write } from "./outbox";

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
