import { expect, test, vi } from "vitest";
import type { Form } from "./api";
import type { LiveRun } from "./live.svelte";
import { isAtWork, phaseOf, told } from "./status";
import { beginToSpeak } from "./words.svelte";

vi.stubGlobal("navigator", { languages: ["en"] });
await beginToSpeak();

const row = (status: string, cause = "", assistant = "oracle") => ({ id: "r", status, cause, assistant, state: cause ? "paused" : status }) as unknown as Form<"Run">;
const live = (some: Partial<LiveRun> = {}) => ({ told: [], html: "", thinking: "", ...some }) as unknown as LiveRun;

test("a failure is never told as an answer that is ready", () => {
  expect([row("done"), row("failed"), row("cancelled"), row("needs_user"), row("running", "suspended"), row("done", "", "inquiry")].map((r) => told(r))).toEqual([
    "The answer is ready.",
    "There is no answer.",
    "Stopped.",
    "It waits for your answer.",
    "It is paused, and waits for the model’s provider.",
    "It is done.",
  ]);
});

test.each([
  ["works", live()],
  ["thinks", live({ thinking: "Hm." })],
  ["works", live({ thinking: "Hm.", html: "<p>So</p>" })],
  ["reads", live({ reading: { tokens: 9, read: 3 }, thinking: "Hm." })],
  ["busy", live({ pause: { until: 12_000, model: "played:worker", kind: "rate_limit", why: "" }, reading: { tokens: 9, read: 3 } })],
] as const)("a run that goes on %s", (phase, now) => {
  expect(phaseOf(row("running"), now)).toBe(phase);
  expect(isAtWork(phase)).toBe(true);
  expect(phaseOf(row("running", "interrupted"), now)).toBe("paused"); // what is told of it is from before
});

test("a model that is busy is told with the seconds that are left", () => {
  expect(told(row("running"), live({ pause: { until: 12_000, model: "played:worker", kind: "rate_limit", why: "" } }), 2500)).toBe("worker is busy. Again in 10 s");
});
