import { afterEach, expect, test, vi } from "vitest";
import type { Form } from "./api";
import { live } from "./live.svelte";
import { saidHere, sayTo, Talk } from "./talk.svelte";

afterEach(() => {
  vi.unstubAllGlobals();
});

const row = (id: string, records: number, status: Form<"Run">["status"] = "running") =>
  ({ id, records, status, session_id: "s", state: status }) as unknown as Form<"Run">;

/** What is known of runs that were told of while others were fetched, the latest first. */
async function known(fetched: Form<"Run">[], told: Form<"Run">[]) {
  vi.stubGlobal("fetch", () => Promise.resolve(new Response(JSON.stringify({ runs: fetched }))));
  const talk = new Talk("s");
  const loaded = talk.load(new AbortController().signal);
  told.forEach((one) => talk.take(one));
  await loaded;
  return talk.rows.map(({ id, records, status }) => [id, records, status]);
}

test("a run that ended while its list was on the way has ended", async () => {
  expect(await known([row("b", 2), row("a", 3, "done")], [row("b", 5, "done")])).toEqual([
    ["a", 3, "done"],
    ["b", 5, "done"],
  ]);
});

test("what was fetched later than it was told counts, and a run that began since stays", async () => {
  expect(await known([row("a", 9, "done")], [row("a", 4), row("c", 1)])).toEqual([
    ["a", 9, "done"],
    ["c", 1, "running"],
  ]);
});

/** Has the stream of the page tell of events. */
function streaming() {
  const hear = new Map<string, (e: unknown) => void>();
  vi.stubGlobal("EventSource", class {
    addEventListener = (name: string, told: (e: unknown) => void) => void hear.set(name, told);
    close() {}
  });
  live.stream.start();
  return (name: string, data: unknown) => hear.get(name)!({ data: JSON.stringify(data), lastEventId: "" });
}

test("a run that stopped before the page knew that it was its own is shown so", async () => {
  vi.useFakeTimers();
  const tell = streaming();
  let now = { ...row("a", 2), state: "running" } as Form<"Run">;
  vi.stubGlobal("fetch", () => Promise.resolve(new Response(JSON.stringify(now))));
  const talk = new Talk("s");
  const unheard = talk.follow();
  tell("record", { run: "a", kind: "suspend", data: {}, lines: [] });
  talk.take(now); // it was fetched when it still went on
  await vi.advanceTimersByTimeAsync(300); // whoever drove it has not let it go yet
  expect(talk.rows[0]!.state).toBe("running");
  now = { ...row("a", 3), state: "paused", cause: "suspended" } as Form<"Run">;
  await vi.advanceTimersByTimeAsync(10_000);
  expect(talk.rows[0]!.cause).toBe("suspended");
  unheard();
  vi.useRealTimers();
});

test("runs of another session, and companions, are not of the conversation; one that was removed goes", () => {
  const talk = new Talk("s");
  talk.take({ ...row("a", 1), session_id: "other" } as Form<"Run">);
  talk.take({ ...row("b", 1), companion: true } as Form<"Run">);
  talk.take(row("c", 1));
  expect(talk.rows.map((r) => r.id)).toEqual(["c"]);
  talk.take({ ...row("c", 1), state: "ended", cause: "removed" } as unknown as Form<"Run">);
  expect(talk.rows).toEqual([]);
});

test("earlier runs stand before the others, each once, and are fetched once however often they are asked for", async () => {
  const asked: string[] = [];
  vi.stubGlobal("fetch", async (path: string) => {
    asked.push(path);
    const runs = path.includes("after=") ? [row("c", 1, "done"), row("b", 1, "done"), row("a", 1, "done")] : [row("d", 1, "done"), row("c", 1, "done")];
    return Response.json({ runs, ...(path.includes("after=") ? {} : { next: "c" }) });
  });
  const talk = new Talk("s");
  await talk.load(new AbortController().signal);
  expect([talk.rows.map((r) => r.id), talk.earlier]).toEqual([["c", "d"], "c"]);
  await Promise.all([talk.loadEarlier(), talk.loadEarlier()]);
  expect([talk.rows.map((r) => r.id), talk.earlier, asked.length]).toEqual([["a", "b", "c", "d"], "", 2]);
});

test("what is said carries what it replaces and the session, and is remembered with its files", async () => {
  let body: unknown;
  let key = "";
  vi.stubGlobal("fetch", async (_: string, init: RequestInit) => {
    [body, key] = [JSON.parse(String(init.body)), new Headers(init.headers).get("Idempotency-Key") ?? ""];
    return Response.json({ run: "r9", session: "s" });
  });
  await sayTo({ assistant: "oracle", session: "s", words: "And?", options: {}, replaces: "r1", files: ["a.txt"] }, "k1");
  expect([body, key]).toEqual([{ assistant: "oracle", words: "And?", options: {}, session: "s", replaces: "r1" }, "k1"]);
  expect(saidHere["r9"]).toMatchObject({ words: "And?", files: ["a.txt"] });
  await sayTo({ assistant: "oracle", session: "", words: "And?", options: {}, replaces: "", files: [] }, "k2");
  expect(body).toEqual({ assistant: "oracle", words: "And?", options: {} });
  await sayTo({ assistant: "oracle", session: "s", words: "And?", options: {}, replaces: "", follows: "r2", files: [] }, "k3");
  expect(body).toEqual({ assistant: "oracle", words: "And?", options: {}, session: "s", follows: "r2" });
});

test("a yes is sent to the run that waits for it, with no words in the person's name", async () => {
  const sent: [string, unknown][] = [];
  vi.stubGlobal("fetch", (path: string, init: RequestInit) => {
    sent.push([path, JSON.parse(String(init.body))]);
    return Promise.resolve(new Response(JSON.stringify({ run: "next", session: "s", state: "running" })));
  });
  const allows = { run: "asked", calls: [2] };
  await sayTo({ assistant: "oracle", session: "s", words: "", options: { vault: "notes" }, replaces: "", files: [], allows }, "k");
  expect(sent).toEqual([["/api/runs/asked/allow", { calls: [2], options: { vault: "notes" } }]]);
  expect(saidHere["next"]?.allows).toEqual(allows);
});

const branched = (id: string, from: { follows?: string; replaces?: string }, versions = [id]) => ({ ...row(id, 1, "done"), ...from, versions });

/** A talk that shows a branch, and what it has asked for since. */
async function showing(...branch: ReturnType<typeof branched>[]) {
  const asked: string[] = [];
  const answers: Record<string, unknown[]> = {};
  vi.stubGlobal("fetch", async (path: string) => {
    asked.push(path);
    const of = new URL(path, "http://here").searchParams.get("of") ?? "";
    return Response.json({ runs: [...(answers[of] ?? branch)].reverse() });
  });
  const talk = new Talk("s");
  await talk.load(new AbortController().signal);
  asked.length = 0;
  return { talk, asked, answers, ids: () => talk.rows.map((r) => r.id).join(" ") };
}
const three = () => showing(branched("a", {}), branched("b", { follows: "a" }), branched("c", { follows: "b" }));

test("a version that begins elsewhere is told of and not shown; one of our own is shown from there on", async () => {
  const { talk, ids } = await three();
  talk.take(branched("b2", { replaces: "b" }));
  expect([ids(), talk.versionsOf("b"), [...talk.fresh]]).toEqual(["a b c", ["b", "b2"], ["b2"]]);
  talk.take(branched("b3", { replaces: "b2" }), true); // of a version that is not shown
  expect([ids(), talk.versionsOf("b3"), [...talk.fresh]]).toEqual(["a b3", ["b", "b2", "b3"], ["b2"]]);
  talk.take(branched("d", { follows: "b3" }));
  talk.take(branched("a2", { replaces: "a" }), true);
  expect([ids(), talk.versionsOf("a2")]).toEqual(["a2", ["a", "a2"]]);
});

test("what goes on from the middle is a version of what was there, and what goes on with another branch is left out", async () => {
  const { talk, asked, ids } = await three();
  talk.take(branched("x", { follows: "a" }));
  expect([ids(), talk.versionsOf("b")]).toEqual(["a b c", ["b", "x"]]);
  talk.take(branched("y", { follows: "x" }));
  talk.take({ ...branched("y", { follows: "x" }), records: 9 });
  await vi.waitFor(() => expect(asked).toHaveLength(1));
  expect(ids()).toBe("a b c");
});

test("a run that goes on from one that was not told of is found with it", async () => {
  const { talk, answers, ids } = await three();
  answers["c"] = [branched("a", {}), branched("b", { follows: "a" }), branched("c", { follows: "b" }), branched("d", { follows: "c" }), branched("e", { follows: "d" })];
  talk.take(branched("e", { follows: "d" }));
  await vi.waitFor(() => expect(ids()).toBe("a b c d e"));
});

test("an address that names a run of another session shows the branch in force", async () => {
  vi.stubGlobal("fetch", async (path: string) =>
    path.includes("of=") ? Response.json({ kind: "not_found" }, { status: 404 }) : Response.json({ runs: [branched("a", {})] }));
  const talk = new Talk("s");
  await talk.load(new AbortController().signal, 0, "elsewhere");
  expect(talk.rows.map((r) => r.id)).toEqual(["a"]);
});
