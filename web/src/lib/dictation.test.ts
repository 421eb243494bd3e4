import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Refusal } from "./api";
import { Dictation } from "./dictation.svelte";
import type { Kept } from "./recordings";

// The disk of the browser, which outlasts whoever records.
const disk = vi.hoisted(() => ({ recordings: new Map<string, Kept>(), sounds: new Map<string, Blob[]>() }));
vi.mock("./recordings", () => ({
  keepRecording: async (one: Kept) => void disk.recordings.set(one.id, one),
  keepSound: async (id: string, _: number, data: Blob) => void disk.sounds.set(id, [...(disk.sounds.get(id) ?? []), data]),
  keptRecordings: async (user: string, field?: string) => [...disk.recordings.values()].filter((r) => r.user === user && r.field === field),
  soundOf: async ({ id, type }: Kept) => new Blob(disk.sounds.get(id) ?? [], { type }),
  forget: async (id: string) => void (disk.recordings.delete(id), disk.sounds.delete(id)),
}));

class Recorder extends EventTarget {
  static isTypeSupported = (type: string) => type === "audio/webm";
  mimeType = "audio/webm;codecs=opus";
  state = "inactive";
  ondataavailable: ((e: { data: Blob }) => void) | undefined;
  constructor(readonly stream: MediaStream) {
    super();
  }
  start() {
    this.state = "recording";
  }
  stop() {
    this.state = "inactive";
    this.ondataavailable?.({ data: new Blob(["sound"]) });
    this.dispatchEvent(new Event("stop"));
  }
}
class Audio {
  createAnalyser = () => ({ fftSize: 0, getFloatTimeDomainData() {} });
  createMediaStreamSource = () => ({ connect() {} });
  close = async () => {};
}
const ended = vi.fn();
const stream = { getTracks: () => [{ stop: ended }], getAudioTracks: () => [] };
const microphone = (give: () => Promise<unknown>) => vi.stubGlobal("navigator", { languages: ["en"], mediaDevices: { getUserMedia: give } });

beforeEach(() => {
  ended.mockClear();
  for (const all of Object.values(disk)) all.clear();
  const drafts = new Map<string, string>();
  vi.stubGlobal("sessionStorage", { getItem: (k: string) => drafts.get(k) ?? null, setItem: (k: string, v: string) => drafts.set(k, v), removeItem: (k: string) => drafts.delete(k) });
  vi.stubGlobal("MediaRecorder", Recorder);
  vi.stubGlobal("AudioContext", Audio);
  microphone(() => Promise.resolve(stream));
});
afterEach(() => vi.unstubAllGlobals());

const words = { text: "Call Ada", by: "whisper" };
const never = () => Promise.reject(new Refusal(503, "busy", ""));
const dictates = (heard: (words: string) => void, transcribe: (body: Blob) => Promise<typeof words>) => new Dictation("ada", "ada.s1", heard, transcribe);

test("what is said becomes words, nothing of it is kept then, and the microphone is let go before", async () => {
  const heard: string[] = [];
  let type = "";
  const d = dictates((w) => heard.push(w), async (body) => {
    type = body.type;
    expect([d.hearing, ended.mock.calls.length, disk.recordings.size]).toEqual([true, 1, 1]);
    return words;
  });
  await d.toggle();
  expect(d.recorder.state).toBe("recording");
  await d.toggle();
  expect([d.recorder.state, heard, type, disk.recordings.size, d.waiting.length]).toEqual(["idle", ["Call Ada"], "audio/webm", 0, 0]);
});

test("what could not be written down is kept and tried again, also by whoever comes back to its field, and becomes words once", async () => {
  const heard: string[] = [];
  const before = dictates((w) => heard.push(w), never);
  await before.toggle();
  await before.toggle();
  expect([before.attempt.refused?.kind, before.waiting.length]).toEqual(["busy", 1]);
  await before.toggle(); // more is said meanwhile
  await before.toggle();
  before.leave();
  const elsewhere = new Dictation("ada", "ada.s2", (w) => heard.push(w), async () => words);
  await elsewhere.look();
  expect(elsewhere.waiting).toEqual([]);
  const after = dictates((w) => heard.push(w), async () => words);
  await after.look();
  expect(after.waiting.length).toBe(2);
  await after.again();
  await after.again();
  expect([heard, after.waiting.length, disk.recordings.size]).toEqual([["Call Ada", "Call Ada"], 0, 0]);
});

test("what is said when the field is left is kept, and sent by nobody until somebody comes back", async () => {
  const sends = vi.fn(async () => words);
  const d = dictates(() => {}, sends);
  await d.toggle();
  d.leave();
  await vi.waitFor(() => expect([...disk.recordings.values()].map((r) => r.ended)).toEqual([true]));
  expect([ended.mock.calls.length, sends.mock.calls.length]).toEqual([1, 0]);
  const after = dictates(() => {}, sends);
  await after.look();
  await after.discard();
  expect([after.waiting.length, disk.recordings.size, sends.mock.calls.length]).toEqual([0, 0, 0]);
});

test("words that come after the field was left are put into it for whoever comes back", async () => {
  const heard: string[] = [];
  let hear = (_: typeof words) => {};
  const d = dictates((w) => heard.push("gone " + w), () => new Promise((done) => (hear = done)));
  await d.toggle();
  const stopped = d.toggle();
  await vi.waitFor(() => expect(d.hearing).toBe(true));
  d.leave();
  await vi.waitFor(() => (hear(words), expect(disk.recordings.size).toBe(0)));
  await stopped;
  const after = dictates((w) => heard.push(w), never);
  await after.look();
  await after.look();
  expect(heard).toEqual(["Call Ada"]);
});

test("where nothing is heard that is said, and nothing is kept", async () => {
  const heard = vi.fn();
  const d = dictates(heard, async () => ({ text: "", by: "whisper" }));
  await d.toggle();
  await d.toggle();
  expect([d.nothing, heard.mock.calls.length, disk.recordings.size]).toEqual([true, 0, 0]);
  await d.toggle();
  expect(d.nothing).toBe(false);
});

test("a microphone that is given to who has left is let go at once", async () => {
  let give = (_: unknown) => {};
  microphone(() => new Promise((done) => (give = done)));
  const d = dictates(() => {}, never);
  const asked = d.toggle();
  d.leave();
  give(stream);
  await asked;
  expect([d.recorder.state, ended.mock.calls.length, disk.recordings.size]).toEqual(["idle", 1, 0]);
});

test.each(["constructor", "start"])("a microphone that can't be recorded from is let go, and nothing is kept: it fails in its %s", async (where) => {
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
  const d = dictates(() => {}, never);
  await d.toggle();
  expect([d.recorder.state, d.recorder.hindrance, ended.mock.calls.length > 0, disk.recordings.size, d.waiting.length]).toEqual(["idle", "broken", true, 0, 0]);
});

test("a microphone that is refused says so", async () => {
  microphone(() => Promise.reject(new DOMException("", "NotAllowedError")));
  const d = dictates(() => {}, never);
  await d.toggle();
  expect([d.recorder.state, d.recorder.hindrance]).toEqual(["idle", "refused"]);
});
