import { forget, keepRecording, keepSound, type Kept } from "./recordings";

/** Why nothing is recorded: the microphone is refused, there is none, the page may not ask for it, or something else went wrong. */
export type Hindrance = "refused" | "missing" | "insecure" | "broken";

/** How much is recorded before it is kept, in ms: as much can be lost. */
const slice = 1000;
/** How often the level is looked at, in ms. */
const look = 80;

/** The kinds of recordings that browsers make, the best first. */
export const kinds = ["audio/ogg;codecs=opus", "audio/webm;codecs=opus", "audio/mp4", "audio/webm"];

/** Why a browser gives no microphone. */
export function hindranceOf(e: unknown): Hindrance {
  const name = e instanceof DOMException ? e.name : "";
  return name === "NotAllowedError" || name === "SecurityError" ? "refused" : name === "NotFoundError" ? "missing" : "broken";
}

/** A recording under way. Each second of it is kept on the disk as it is recorded. */
export class Recorder {
  state = $state<"idle" | "asking" | "recording" | "paused" | "ending">("idle");
  hindrance = $state<Hindrance>();
  why = $state("");
  /** From 0 to 1. */
  level = $state(0);
  seconds = $state(0);
  /** The id of what is being recorded. */
  making = $state("");
  #recorder: MediaRecorder | undefined;
  #audio: AudioContext | undefined;
  #timer: ReturnType<typeof setInterval> | undefined;
  #written: Promise<unknown> = Promise.resolve();
  #count = 0;
  #release: (() => void) | undefined;
  #kept: Kept | undefined;
  #left = false;

  constructor(
    private readonly user: string,
    private readonly session: string,
    /** Is told of each change of what is kept. */
    private readonly told: (kept: Kept) => void,
    /** The field that takes the words. Undefined: it goes to the session. */
    private readonly field?: string,
  ) {}

  async start() {
    [this.hindrance, this.why, this.state] = [undefined, "", "asking"];
    if (!navigator.mediaDevices?.getUserMedia || !("MediaRecorder" in globalThis)) return this.#hinder("insecure");
    let heard: MediaStream | undefined;
    try {
      heard = await navigator.mediaDevices.getUserMedia({ audio: true });
      if (!this.#left) await this.#begin(heard);
      if (!this.#recorder) this.#drop(heard); // whoever wanted it has left
    } catch (e) {
      this.#drop(heard);
      this.#hinder(hindranceOf(e), e);
    }
  }

  async #begin(heard: MediaStream) {
    const type = kinds.find((k) => MediaRecorder.isTypeSupported(k)) ?? "";
    const recorder = new MediaRecorder(heard, type ? { mimeType: type } : {});
    const kept: Kept = {
      id: crypto.randomUUID(),
      user: this.user,
      session: this.session,
      at: new Date().toISOString(),
      type: (recorder.mimeType || type || "audio/webm").replace(/;.*/, ""),
      ended: false,
      ...(this.field === undefined ? {} : { field: this.field }),
    };
    [this.#kept, this.making] = [kept, kept.id];
    await keepRecording(kept);
    if (this.#left) return;
    this.#hold(kept.id);
    this.#count = 0;
    recorder.ondataavailable = ({ data }) => {
      if (!data.size) return;
      const number = this.#count++;
      this.#written = this.#written.then(() => keepSound(kept.id, number, data)).catch((e) => this.#fail(e));
    };
    recorder.onerror = () => this.#fail(new Error("MediaRecorder"));
    heard.getAudioTracks()[0]?.addEventListener("ended", () => this.#fail(new Error("—")));
    this.#recorder = recorder;
    this.#listen(heard);
    recorder.start(slice);
    this.told(kept);
    this.seconds = 0;
    this.state = "recording";
  }

  /** Lets the microphone go before anything was recorded. */
  #drop(heard: MediaStream | undefined) {
    heard?.getTracks().forEach((t) => t.stop());
    if (this.#kept) void forget(this.#kept.id);
    this.#close();
    this.state = "idle";
  }

  /** Says to other tabs that this recording goes on. */
  #hold(id: string) {
    void navigator.locks?.request(lockOf(id), () => new Promise<void>((resolve) => (this.#release = resolve)));
  }

  #listen(heard: MediaStream) {
    this.#audio = new AudioContext();
    const analyser = this.#audio.createAnalyser();
    analyser.fftSize = 1024;
    this.#audio.createMediaStreamSource(heard).connect(analyser);
    const wave = new Float32Array(analyser.fftSize);
    this.#timer = setInterval(() => {
      analyser.getFloatTimeDomainData(wave);
      const loud = Math.sqrt(wave.reduce((sum, x) => sum + x * x, 0) / wave.length);
      this.level = this.state === "recording" ? Math.min(1, loud * 4) : 0;
      if (this.state === "recording") this.seconds += look / 1000;
    }, look);
  }

  pause() {
    if (this.#recorder?.state !== "recording") return;
    this.#recorder.pause();
    this.#recorder.requestData();
    this.state = "paused";
  }

  resume() {
    if (this.#recorder?.state !== "paused") return;
    this.#recorder.resume();
    this.state = "recording";
  }

  /** Ends the recording; it is kept whole. */
  async stop() {
    const [recorder, kept] = [this.#recorder, this.#kept];
    if (!recorder || !kept) return;
    this.state = "ending";
    if (recorder.state !== "inactive") {
      const stopped = new Promise((resolve) => recorder.addEventListener("stop", resolve, { once: true }));
      recorder.stop();
      await stopped;
    }
    await this.#written;
    const ended = { ...kept, ended: true };
    await keepRecording(ended);
    this.told(ended);
    this.#close();
    this.state = "idle";
  }

  /** Lets the microphone go for good, also one that is given later. What was recorded stays kept. */
  leave() {
    this.#left = true;
    if (this.#recorder && this.#recorder.state !== "inactive") void this.stop();
  }

  #close() {
    clearInterval(this.#timer);
    this.#recorder?.stream.getTracks().forEach((t) => t.stop());
    void this.#audio?.close();
    this.#release?.();
    [this.#recorder, this.#audio, this.#release, this.#kept, this.level, this.making] = [undefined, undefined, undefined, undefined, 0, ""];
  }

  /** It can't go on; what there is is kept. */
  #fail(e: unknown) {
    if (!this.#recorder || this.state === "ending") return;
    this.#close();
    this.#hinder("broken", e);
  }

  #hinder(what: Hindrance, e?: unknown) {
    [this.hindrance, this.state] = [what, "idle"];
    this.why = e instanceof Error ? e.message : "";
  }
}

const lockOf = (id: string) => "sibyl-recording-" + id;

/** Whether a recording goes on in some tab. */
export async function beingMade(id: string): Promise<boolean> {
  const { held = [] } = (await navigator.locks?.query()) ?? {};
  return held.some((l) => l.name === lockOf(id));
}
