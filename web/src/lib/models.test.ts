import { beforeEach, expect, test, vi } from "vitest";

const fresh = () => import("./models.svelte");

beforeEach(() => void vi.resetModules());

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
