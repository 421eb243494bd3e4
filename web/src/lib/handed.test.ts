import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Handed } from "./handed.svelte";

/** What the server makes of files by their names; an error for one that it can't read. */
let reads: Record<string, { material: string; picture?: boolean } | string>;
let reading: string[];

beforeEach(() => {
  [reads, reading] = [{}, []];
  vi.stubGlobal("fetch", async (path: string) => {
    const name = new URL(path, "http://house").searchParams.get("name")!;
    reading.push(name);
    const read = reads[name]!;
    return typeof read === "string" ? Response.json({ kind: "document_unreadable", detail: read }, { status: 415 }) : Response.json({ name, picture: false, ...read });
  });
});
afterEach(() => {
  vi.unstubAllGlobals();
});

const file = (name: string) => new File(["x"], name);
const names = (h: Handed) => h.files.map((f) => f.name);

test("files are read one after the other, and one that can't be read is told by its name", async () => {
  reads = { "a.txt": { material: "A" }, "b.png": "It is no text.", "c.txt": { material: "C" } };
  const handed = new Handed();
  const added = handed.add([file("a.txt"), file("b.png"), file("c.txt")]);
  expect([handed.reading, reading]).toEqual(["a.txt", ["a.txt"]]);
  await added;
  expect([names(handed), handed.material, handed.reading]).toEqual([["a.txt", "c.txt"], "AC", ""]);
  expect(handed.problems).toEqual(["b.png: It is no text."]);
});

test("a file takes the place of one of the same name, and what went wrong before is told no more", async () => {
  reads = { "a.txt": { material: "A" }, "b.txt": "no" };
  const handed = new Handed();
  await handed.add([file("a.txt"), file("b.txt")]);
  reads["a.txt"] = { material: "other" };
  await handed.add([file("a.txt")]);
  expect([names(handed), handed.material, handed.problems]).toEqual([["a.txt"], "other", []]);
  handed.remove("a.txt");
  expect(handed.material).toBe("");
});

test("no more is taken than the server takes with a question: texts by their bytes, pictures by their number", async () => {
  reads = { "a.txt": { material: "ä".repeat(6) }, "b.txt": { material: "b" }, "1.png": { material: "p".repeat(99), picture: true }, "2.png": { material: "p", picture: true } };
  const handed = new Handed(12, 1);
  await handed.add(["a.txt", "b.txt", "1.png", "2.png"].map(file));
  expect([names(handed), handed.problems.length]).toEqual([["a.txt", "1.png"], 2]);
});

test("pictures are refused where none are looked at", async () => {
  reads = { "1.png": { material: "p", picture: true } };
  const handed = new Handed();
  await handed.add([file("1.png")]);
  expect([names(handed), handed.problems.length]).toEqual([[], 1]);
});

test("files that are brought while others are read come after them, and those without names of their own take no place", async () => {
  reads = { "image.png": { material: "1", picture: true }, "image-2.png": { material: "2", picture: true }, "image-3.png": { material: "3", picture: true }, "a.txt": "no" };
  const handed = new Handed(Infinity, 4);
  const added = handed.add(handed.apart([file("image.png"), file("image.png")]));
  const later = handed.add([...handed.apart([file("image.png")]), file("a.txt")]);
  await later;
  expect([names(handed), handed.problems.length, reading]).toEqual([["image.png", "image-2.png", "image-3.png"], 1, ["image.png", "image-2.png", "image-3.png", "a.txt"]]);
  await added;
  await handed.add([]);
  expect([handed.reading, handed.problems]).toEqual(["", []]);
});

test("a file that is too large is not even sent", async () => {
  const large = file("a.txt");
  Object.defineProperty(large, "size", { value: 65 << 20 });
  const handed = new Handed();
  await handed.add([large]);
  expect([reading, handed.problems.length]).toEqual([[], 1]);
});

test("files that are put back stand beside those that are there, as far as there is room", async () => {
  reads = { "a.txt": { material: "A" }, "b.txt": { material: "B" }, "c.txt": { material: "C" } };
  const handed = new Handed(2);
  await handed.add([file("a.txt"), file("b.txt")]);
  const sent = [...handed.files];
  handed.files = [];
  await handed.add([file("c.txt")]);
  handed.putBack(sent);
  expect([names(handed), handed.problems.length]).toEqual([["c.txt", "a.txt"], 1]);
});
