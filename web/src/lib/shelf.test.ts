import { beforeEach, expect, test, vi } from "vitest";
import { Shelf } from "./shelf.svelte";

beforeEach(() => {
  const all = new Map<string, string>();
  vi.stubGlobal("localStorage", { getItem: (k: string) => all.get(k) ?? null, setItem: (k: string, v: string) => all.set(k, v), removeItem: (k: string) => all.delete(k) });
});

test("what two tabs pin and put away stays, whichever came first", () => {
  const [one, other] = [new Shelf("ada"), new Shelf("ada")];
  one.pin("a", true);
  other.pin("b", true);
  one.put("c", "Work");
  expect(new Shelf("ada").pins).toEqual(["b", "a"]);
  other.look();
  expect(other.folderOf("c")).toBe("Work");
  expect(other.placed).toEqual(["b", "a", "c"]);
});

test("a folder takes another name, joins one that is there, and is gone without one", () => {
  const shelf = new Shelf("ada");
  shelf.put("a", "Work");
  shelf.put("b", " Home ");
  shelf.rename("Work", "Home");
  expect([shelf.folders, shelf.folderOf("a")]).toEqual([["Home"], "Home"]);
  shelf.rename("Home", " ");
  expect([shelf.folders, shelf.placed]).toEqual([[], []]);
});

test("what another user has put in order is nobody else's", () => {
  new Shelf("ada").pin("a", true);
  expect(new Shelf("eve").pins).toEqual([]);
});

test("what happened since it was seen is unread, and what is gone is in no order", () => {
  const shelf = new Shelf("ada");
  shelf.see("a", "2999-01-01T00:00:00Z");
  expect([shelf.unread("a", "2999-01-01T00:00:00Z"), shelf.unread("a", "2999-01-02T00:00:00Z"), shelf.unread("b", "2000-01-01T00:00:00Z")]).toEqual([false, true, false]);
  shelf.pin("a", true);
  shelf.put("a", "Work");
  shelf.forget("a");
  expect(shelf.placed).toEqual([]);
});

test("what is damaged begins anew", () => {
  localStorage.setItem("sibyl.shelf.ada", "{");
  expect(new Shelf("ada").pins).toEqual([]);
});
