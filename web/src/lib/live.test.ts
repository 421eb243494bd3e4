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
