import { afterEach, beforeEach, expect, test, vi } from "vitest";

// A source of events that the tests drive, in place of the browser's.
const heard = new Map<string, (e: { data: string; lastEventId: string }) => void>();
vi.stubGlobal(
  "EventSource",
  class {
    addEventListener = (name: string, hear: (e: { data: string; lastEventId: string }) => void) => void heard.set(name, hear);
    close() {}
  },
);
vi.stubGlobal("navigator", { languages: ["en"] });
const { lastTold, live } = await import("./live.svelte");
await (await import("./words.svelte")).beginToSpeak();
const tell = (name: string, data: object) => heard.get(name)!({ data: JSON.stringify({ run: "r1", op: 1, ...data }), lastEventId: "" });
const told = () => lastTold(live.runs["r1"]);

beforeEach(() => {
  vi.useFakeTimers();
  live.stream.start();
});
afterEach(() => {
  tell("end", {});
  live.stream.stop();
  vi.useRealTimers();
});

test("a model that reads is told at once with its share", () => {
  tell("reading", { tokens: 4900, read: 1960 });
  expect(told()).toBe("Reading the prompt, 40 %");
  tell("reading", { tokens: 4900, read: 4900 });
  expect(told()).toBe("Reading the prompt, 100 %");
});

test("a model whose server tells no share is told once it reads for a while", () => {
  tell("reading", { tokens: 4900, read: 0 });
  vi.advanceTimersByTime(2900);
  expect(told()).toBe("");
  vi.advanceTimersByTime(200);
  expect(told()).toBe("Reading the prompt, about 4,900 tokens…");
});

test.each([
  ["text", { html: "<p>so</p>" }],
  ["retract", {}],
  ["record", { kind: "completion" }],
  ["reading", { tokens: 0, read: 0 }],
])("a reading is over with %s", (name, data) => {
  tell("reading", { tokens: 4900, read: 1960 });
  tell("reading", { tokens: 4900, read: 0 });
  tell(name, data);
  vi.advanceTimersByTime(60_000);
  expect(told()).toBe("");
});

test("what a model thinks is told while it comes, never as its answer, and is gone with the record", () => {
  tell("thinking", { text: "First the lease." });
  expect([told(), live.runs["r1"]?.thinking, live.runs["r1"]?.html]).toEqual(["Thinking…", "First the lease.", ""]);
  tell("text", { html: "<p>so</p>" });
  expect([told(), live.runs["r1"]?.thinking]).toEqual(["", "First the lease."]);
  tell("record", { kind: "completion" });
  expect(live.runs["r1"]?.thinking).toBe("");
  tell("thinking", { text: "Once more." });
  tell("retract", {});
  expect(live.runs["r1"]?.thinking).toBe("");
});

test("a model that is busy is named with the seconds until it is asked again, until something else happens", () => {
  vi.setSystemTime("2026-01-01T00:00:00Z");
  tell("wait", { until: "2026-01-01T00:00:12Z", why: "played:worker: too many requests", model: "played:worker", kind: "rate_limit" });
  expect(told()).toBe("worker is busy. Again in 12 s");
  vi.advanceTimersByTime(12_500);
  expect(told()).toBe("worker is busy. Trying again…");
  tell("text", { html: "<p>so</p>" });
  expect(told()).toBe("");
});

test("a pause of anything else is told as the server says it", () => {
  vi.setSystemTime("2026-01-01T00:00:00Z");
  tell("wait", { until: "2026-01-01T00:00:03Z", why: "the journal is busy" });
  expect(told()).toBe("the journal is busy. Again in 3 s");
});
