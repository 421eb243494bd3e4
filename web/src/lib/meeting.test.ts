import { afterEach, expect, test, vi } from "vitest";
import { Attempt } from "./attempt.svelte";
import { Meeting } from "./meeting.svelte";

afterEach(() => vi.unstubAllGlobals());

test("a sitting that is begun again after a lost answer has its key, and one with another preference a key of its own", async () => {
  const keys: (string | null)[] = [];
  vi.stubGlobal("fetch", (_: string, init: RequestInit) => (keys.push(new Headers(init.headers).get("Idempotency-Key")), Promise.reject(new TypeError("lost"))));
  const attempt = new Attempt();
  const meeting = new Meeting("s1");
  const begins = (options: Record<string, unknown>) => meeting.begin(attempt, options, () => {});
  for (const history of [true, true, false]) expect(await begins({ oracles: ["a"], history })).toBe(false);
  expect([keys[0] === keys[1], keys[1] === keys[2], new Set(keys).has(null)]).toEqual([true, false, false]);
});
