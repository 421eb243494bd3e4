import { beforeEach, expect, test, vi } from "vitest";
import { Dictation } from "./dictation.svelte";
import { Refusal } from "./api";

class Recorder {
  static isTypeSupported = (type: string) => type === "audio/webm";
  mimeType = "audio/webm;codecs=opus";
  ondataavailable: ((e: { data: Blob }) => void) | undefined;
  onstop: (() => void) | null | undefined;
  constructor(readonly stream: MediaStream) {}
  start() {}
  stop() {
    this.ondataavailable?.({ data: new Blob(["sound"]) });
    this.onstop?.();
  }
}
const ended = vi.fn();
const microphone = (give: () => Promise<unknown>) => vi.stubGlobal("navigator", { languages: ["en"], mediaDevices: { getUserMedia: give } });

beforeEach(() => {
  ended.mockClear();
  vi.stubGlobal("MediaRecorder", Recorder);
  microphone(() => Promise.resolve({ getTracks: () => [{ stop: ended }] }));
});

test("what is said becomes words, and the microphone is let go before they are there", async () => {
  const heard: string[] = [];
  let type = "";
  const d = new Dictation((words) => heard.push(words), async (body) => {
    type = body.type;
    expect([d.state, ended.mock.calls.length]).toEqual(["hearing", 1]);
    return { text: "Call Ada", by: "whisper" };
  });
  await d.toggle();
  expect(d.state).toBe("recording");
  await d.toggle();
  await vi.waitFor(() => expect(d.state).toBe("idle"));
  expect([heard, type]).toEqual([["Call Ada"], "audio/webm"]);
});

test("what the server refuses is told, and no words come", async () => {
  const heard = vi.fn();
  const d = new Dictation(heard, () => Promise.reject(new Refusal(409, "no_transcriber", "")));
  await d.toggle();
  await d.toggle();
  await vi.waitFor(() => expect(d.attempt.refused?.kind).toBe("no_transcriber"));
  expect([d.state, heard.mock.calls.length]).toEqual(["idle", 0]);
});

test("who leaves sends nothing", async () => {
  const sends = vi.fn();
  const d = new Dictation(() => {}, sends);
  await d.toggle();
  d.leave();
  expect([d.state, ended.mock.calls.length, sends.mock.calls.length]).toEqual(["idle", 1, 0]);
});

test("a microphone that is given to who has left is let go at once", async () => {
  let give = (_: unknown) => {};
  microphone(() => new Promise((done) => (give = done)));
  const d = new Dictation(() => {}, vi.fn());
  const asked = d.toggle();
  d.leave();
  give({ getTracks: () => [{ stop: ended }] });
  await asked;
  expect([d.state, ended.mock.calls.length]).toEqual(["idle", 1]);
});

test.each(["constructor", "start"])("a microphone that can't be recorded from is let go: it fails in its %s", async (where) => {
  const fails = () => {
    throw new DOMException("", "NotSupportedError");
  };
  vi.stubGlobal("MediaRecorder", class extends Recorder {
    constructor(stream: MediaStream) {
      super(stream);
      if (where === "constructor") fails();
    }
    override start = fails;
  });
  const d = new Dictation(() => {}, vi.fn());
  await d.toggle();
  expect([d.state, d.hindrance, ended.mock.calls.length]).toEqual(["idle", "broken", 1]);
});

test("what was said and not written down is sent again, and becomes words once", async () => {
  const heard: string[] = [];
  const sent: Blob[] = [];
  const d = new Dictation((words) => heard.push(words), async (body) => {
    if (sent.push(body) === 1) throw new Refusal(503, "busy", "");
    return { text: "Call Ada", by: "whisper" };
  });
  await d.toggle();
  await d.toggle();
  await vi.waitFor(() => expect([d.state, d.attempt.refused?.kind]).toEqual(["idle", "busy"]));
  await d.again();
  await d.again();
  expect([heard, sent.length, sent[0] === sent[1], d.attempt.refused]).toEqual([["Call Ada"], 2, true, undefined]);
});

test("a microphone that is refused says so", async () => {
  microphone(() => Promise.reject(new DOMException("", "NotAllowedError")));
  const d = new Dictation(() => {}, vi.fn());
  await d.toggle();
  expect([d.state, d.hindrance]).toEqual(["idle", "refused"]);
});
