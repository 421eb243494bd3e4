import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { askAhead, resultOf } from "./results";

const asked: string[] = [];
const answers = new Map<string, () => Response>();

beforeEach(() => {
  vi.useFakeTimers();
  asked.length = 0;
  answers.clear();
  vi.stubGlobal("fetch", (path: string) => {
    const at = decodeURIComponent(path);
    asked.push(at);
    const ids = at.match(/run=([^&]*)/)?.[1]?.split(",") ?? [];
    return Promise.resolve(answers.get(at)?.() ?? Response.json({ runs: ids.filter((id) => id !== "torn").map((id) => ({ id })) }));
  });
});
afterEach(async () => {
  await vi.runAllTimersAsync();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const of = (run: string, abort = new AbortController()) => resultOf(run, abort.signal);

test("what is asked for at once is fetched together, twenty at most", async () => {
  const all = Array.from({ length: 25 }, (_, i) => of(`r${i}`));
  await vi.runAllTimersAsync();
  expect((await Promise.all(all)).map((r) => r.id)).toEqual(all.map((_, i) => `r${i}`));
  expect(asked.map((at) => at.split(",").length)).toEqual([20, 5]);
});

test("what is about to be shown is asked for at once, and once", async () => {
  askAhead(["r1", "r2"]);
  expect(asked).toEqual(["/api/results?run=r1,r2&html=true"]);
  expect((await of("r2")).id).toBe("r2");
  expect(asked.length).toBe(1);
  void of("r2"); // it may have changed since
  await vi.runAllTimersAsync();
  expect(asked.length).toBe(2);
});

test("what is aborted before it is fetched is not asked for", async () => {
  const abort = new AbortController();
  void of("gone", abort);
  const kept = of("kept");
  abort.abort();
  await vi.runAllTimersAsync();
  expect((await kept).id).toBe("kept");
  expect(asked).toEqual(["/api/results?run=kept&html=true"]);
});

test("what was left out is asked for by itself, and says why", async () => {
  answers.set("/api/runs/torn?html=true", () => Response.json({ kind: "corrupt", detail: "It is damaged." }, { status: 500 }));
  const all = [of("whole"), of("torn")].map((one) => one.then((r) => r.id, (e: Error) => e.message));
  await vi.runAllTimersAsync();
  expect(await Promise.all(all)).toEqual(["whole", "It is damaged."]);
});

test("who scrolls on is asked for five times a second at most", async () => {
  for (let i = 0; i < 60; i++) {
    void of(`r${i}`);
    await vi.advanceTimersByTimeAsync(1000 / 60);
  }
  expect(asked.length).toBeLessThanOrEqual(6);
});
