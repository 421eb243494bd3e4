import { beforeEach, expect, test, vi } from "vitest";

let kept: Map<string, string>;

beforeEach(() => {
  vi.resetModules();
  kept = new Map();
  vi.stubGlobal("localStorage", {
    getItem: (name: string) => kept.get(name) ?? null,
    setItem: (name: string, value: string) => kept.set(name, value),
    removeItem: (name: string) => kept.delete(name),
  });
});

const fresh = () => import("./models.svelte");

test("a model is chosen for a conversation, and for the one that is about to begin until it begins", async () => {
  const { models } = await fresh();
  models.choose("s1", "played:other");
  expect([models.chosenIn("s1"), models.chosenIn("s2"), models.chosenIn("")]).toEqual(["played:other", "", ""]);
  models.choose("", "played:player");
  models.began("s2");
  expect([models.chosenIn("s2"), models.chosenIn("")]).toEqual(["played:player", ""]);
  models.began("s3");
  expect(models.chosenIn("s3")).toBe("");
  models.choose("s1", "");
  expect(models.chosenIn("s1")).toBe("");
});

test("the browser remembers the models of conversations, of the last fifty, and none of the one that is about to begin", async () => {
  const first = await fresh();
  for (let n = 0; n < 60; n++) first.models.choose(`s${n}`, "played:other");
  first.models.choose("", "played:other");
  vi.resetModules();
  const { models } = await fresh();
  expect([models.chosenIn("s59"), models.chosenIn("s5"), models.chosenIn("")]).toEqual(["played:other", "", ""]);
});

test("what is broken in the browser's memory is as if nothing was chosen", async () => {
  for (const broken of ["{", "null", `{"s1":7}`]) {
    kept.set("sibyl.models", broken);
    vi.resetModules();
    expect((await fresh()).models.chosenIn("s1")).toBe("");
  }
});

test("the models are fetched once, and again after that failed", async () => {
  let answer = () => Promise.reject<Response>(new TypeError("nobody is there"));
  const fetched = vi.fn(() => answer());
  vi.stubGlobal("fetch", fetched);
  const { models } = await fresh();
  models.look();
  await vi.waitFor(() => expect(models.loaded.problem).toBeDefined());
  answer = () => Promise.resolve(Response.json({ default: "played:player", offline: false, providers: [{ provider: "played", models: [{ id: "played:player" }] }, { provider: "away", models: [] }] }));
  await vi.waitFor(() => {
    models.look();
    expect(models.usual).toBe("played:player");
  });
  const before = fetched.mock.calls.length;
  models.look();
  expect(fetched.mock.calls.length).toBe(before);
  expect(models.providers.map((p) => p.provider)).toEqual(["played"]);
});

test("a model is called without its provider", async () => {
  const { nameOf } = await fresh();
  expect(nameOf("played:library/player:7b")).toBe("library/player:7b");
});
