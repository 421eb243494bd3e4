import { expect, test } from "vitest";
import { Refusal } from "./api";
import { Saving } from "./saving.svelte";

const refuses = (kind: string) => () => Promise.reject<string>(new Refusal(409, kind, "No."));

test("a value may be kept anyway when it was refused as unfit, and no other", async () => {
  const s = new Saving();
  expect(await s.save("a", refuses("setting_unfit"))).toBe(false);
  expect([s.mayKeep("a"), s.mayKeep("b"), s.attempt.problem]).toEqual([true, false, "No."]);
  s.forget();
  expect([s.mayKeep("a"), s.attempt.problem]).toEqual([false, ""]);
  await s.save("a", refuses("setting_refused"));
  expect(s.mayKeep("a")).toBe(false);
});

test("one value is saved at a time, and what came of the one before is said no more", async () => {
  const s = new Saving();
  await s.save("a", async () => "Saved.");
  expect(s.said).toBe("Saved.");
  let end = (_: string) => {};
  const first = s.save("b", () => new Promise((done) => (end = done)));
  expect([s.said, await s.save("c", async () => "twice")]).toEqual(["", false]);
  end("Saved.");
  expect([await first, s.said]).toEqual([true, "Saved."]);
});
