import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { startedAgain } from "./restart";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const refuses = (status: number, kind: string) => () => Promise.resolve(Response.json({ kind }, { status }));
const opened = (at: string) => () => Promise.resolve(Response.json({ opened: at }));
const away = () => Promise.reject(new TypeError("nobody is there"));

/** A server that answers so, one after the other, and then always as the last says. */
function answers(...all: (() => Promise<Response>)[]) {
  const asked = vi.fn(() => (all.length > 1 ? all.shift()! : all[0]!)());
  vi.stubGlobal("fetch", asked);
  return asked;
}

test("a server has started again once its settings were opened anew, though it is away meanwhile", async () => {
  const asked = answers(opened("one"), away, refuses(503, "draining"), opened("two"));
  const done = startedAgain("one", new AbortController().signal);
  await vi.advanceTimersByTimeAsync(10_000);
  expect([await done, asked.mock.calls.length]).toEqual([true, 4]);
});

test.each([[401, "wrong_token"], [403, "forbidden"], [422, "setting_refused"]])("a refusal with %i, %s, is told, and nothing more is asked", async (status, kind) => {
  const asked = answers(refuses(status, kind));
  const told = expect(startedAgain("one", new AbortController().signal)).rejects.toMatchObject({ status, kind });
  await vi.advanceTimersByTimeAsync(10_000);
  await told;
  expect(asked).toHaveBeenCalledOnce();
});

test("who has left waits no more", async () => {
  const asked = answers(opened("one"));
  const leaves = new AbortController();
  const done = startedAgain("one", leaves.signal);
  await vi.advanceTimersByTimeAsync(500);
  leaves.abort();
  await vi.advanceTimersByTimeAsync(10_000);
  expect([await done, asked.mock.calls.length]).toEqual([false, 1]);
});

test("a server that does not start again is waited for two minutes", async () => {
  answers(away);
  const told = expect(startedAgain("one", new AbortController().signal)).rejects.toMatchObject({ kind: "slow" });
  await vi.advanceTimersByTimeAsync(130_000);
  await told;
});
