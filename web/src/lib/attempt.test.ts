import { afterEach, expect, test, vi } from "vitest";
import { Refusal, onOverLimit, onSignedOut, send } from "./api";
import { Attempt } from "./attempt.svelte";

afterEach(() => {
  vi.unstubAllGlobals();
  onOverLimit(() => Promise.resolve(false));
});

const refuse = () => Promise.reject(new Refusal(409, "conflict", "It has changed."));

test("an attempt is busy while it is made, and says why it failed until the next one", async () => {
  const attempt = new Attempt();
  let end = () => {};
  const made = attempt.make(() => new Promise<void>((done) => (end = done)));
  expect(attempt.busy).toBe(true);
  end();
  expect([await made, attempt.busy]).toEqual([true, false]);
  expect([await attempt.make(refuse), attempt.problem, attempt.busy]).toEqual([false, "It has changed.", false]);
  expect([await attempt.make(async () => {}), attempt.problem]).toEqual([true, ""]);
});

test("what is sent again after it was lost has the same key, and another thing or the next time another", async () => {
  const attempt = new Attempt();
  const keys: string[] = [];
  const lost = (key: string) => (keys.push(key), refuse());
  const arrives = async (key: string) => void keys.push(key);
  await attempt.once({ words: "a" }, lost);
  await attempt.once({ words: "a" }, arrives);
  await attempt.once({ words: "a" }, lost);
  await attempt.once({ words: "b" }, arrives);
  expect(keys[1]).toBe(keys[0]);
  expect(new Set(keys).size).toBe(3);
});

/** A server that takes nothing over the day's limit unless it is told to. */
function limited() {
  const sent: (string | null)[] = [];
  vi.stubGlobal("fetch", async (_: string, init: RequestInit) => {
    const agreed = new Headers(init.headers).get("Over-Limit");
    sent.push(agreed);
    return agreed ? Response.json({ run: "r1" }) : Response.json({ kind: "over_limit", detail: "The limit is reached.", spent: 2, limit: 1 }, { status: 402 });
  });
  return sent;
}

test("what goes over the day's limit is sent after a yes, and the person sees what was spent", async () => {
  const sent = limited();
  const asked: unknown[] = [];
  onOverLimit((costs) => (asked.push([costs.spent, costs.limit]), Promise.resolve(true)));
  expect(await send("POST", "/api/runs")).toEqual({ run: "r1" });
  expect([sent, asked]).toEqual([[null, "true"], [[2, 1]]]);
});

test("after a no nothing more is sent, and whoever sent it is free before another key can be pressed", async () => {
  const sent = limited();
  let decide = (_: boolean) => {};
  onOverLimit(() => new Promise((done) => (decide = done)));
  const attempt = new Attempt();
  void attempt.make(() => send("POST", "/api/runs"));
  await vi.waitFor(() => expect(sent).toEqual([null]));
  await new Promise((later) => setTimeout(later));
  let key = false;
  const pressed = new Promise<void>((done) => setTimeout(() => ((key = attempt.busy), done())));
  decide(false);
  await pressed;
  expect([key, sent, attempt.refused?.kind]).toEqual([false, [null], "over_limit"]);
});

test("who is no longer known is told so by any request", async () => {
  const told = vi.fn();
  onSignedOut(told);
  vi.stubGlobal("fetch", async () => Response.json({ kind: "wrong_token" }, { status: 401 }));
  await expect(send("GET", "/api/me")).rejects.toMatchObject({ status: 401, kind: "wrong_token" });
  expect(told).toHaveBeenCalledOnce();
});

test("a server that is away is told from one that refuses, and an answer that breaks off from a whole one", async () => {
  vi.stubGlobal("fetch", () => Promise.reject(new TypeError("nobody is there")));
  await expect(send("GET", "/api/me")).rejects.toMatchObject({ status: 0, kind: "unreachable" });
  vi.stubGlobal("fetch", async () => ({ ok: true, status: 200, text: () => Promise.reject(new TypeError("it broke off")) }));
  await expect(send("GET", "/api/me")).rejects.toMatchObject({ status: 0, kind: "unreachable" });
});
