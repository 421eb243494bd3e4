import { address, send, type Form } from "./api";
import { Attempt } from "./attempt.svelte";
import { hindranceOf, kinds, type Hindrance } from "./recorder.svelte";

/** How long the server may take to write down what was said, in ms. */
const patience = 5 * 60_000;

/** Speech that becomes words in a field: recorded here, and written down by the server's transcriber. Nothing of it is kept once it is words. */
export class Dictation {
  state = $state<"idle" | "asking" | "recording" | "hearing">("idle");
  hindrance = $state<Hindrance>();
  seconds = $state(0);
  readonly attempt = new Attempt();
  #recorder: MediaRecorder | undefined;
  #clock: ReturnType<typeof setInterval> | undefined;
  #said: Blob | undefined; // what is not words yet
  #left = false;

  /** `heard` takes the words. `transcribe` is the server. */
  constructor(
    private readonly heard: (words: string) => void,
    private readonly transcribe = (body: Blob) => send<Form<"Dictated">>("POST", address("/api/dictation", {}), { body, patience }),
  ) {}

  /** Begins to record, or ends it and has it written down. */
  async toggle() {
    if (this.state === "recording") this.#recorder?.stop();
    else if (this.state === "idle") await this.#start();
  }

  /** Has what was said last written down, as that did not work before. */
  async again() {
    if (this.state === "idle") await this.#hear();
  }

  /** Lets the microphone go for good, also one that is given later, and forgets what was said. */
  leave() {
    this.#left = true;
    this.#said = undefined;
    if (!this.#recorder) return;
    this.#recorder.onstop = null;
    letGo(this.#recorder.stream);
    this.#close();
    this.state = "idle";
  }

  async #start() {
    [this.hindrance, this.seconds, this.attempt.refused, this.#said] = [undefined, 0, undefined, undefined];
    if (!navigator.mediaDevices?.getUserMedia || !("MediaRecorder" in globalThis)) return void (this.hindrance = "insecure");
    this.state = "asking";
    let stream: MediaStream | undefined;
    try {
      stream = await navigator.mediaDevices.getUserMedia({ audio: true });
      if (this.#left) letGo(stream);
      else this.#record(stream);
    } catch (e) {
      letGo(stream);
      this.hindrance = hindranceOf(e);
    }
    this.state = this.#recorder ? "recording" : "idle";
  }

  #record(stream: MediaStream) {
    const type = kinds.find((k) => MediaRecorder.isTypeSupported(k)) ?? "";
    const recorder = new MediaRecorder(stream, type ? { mimeType: type } : {});
    const parts: Blob[] = [];
    recorder.ondataavailable = ({ data }) => parts.push(data);
    recorder.onstop = () => {
      letGo(stream);
      this.#close();
      this.#said = new Blob(parts, { type: (recorder.mimeType || type || "audio/webm").replace(/;.*/, "") });
      void this.#hear();
    };
    recorder.start();
    this.#recorder = recorder;
    this.#clock = setInterval(() => this.seconds++, 1000);
  }

  async #hear() {
    const said = this.#said;
    if (!said) return;
    this.state = "hearing";
    await this.attempt.make(async () => {
      const { text } = await this.transcribe(said);
      if (text && !this.#left) this.heard(text);
      this.#said = undefined;
    });
    this.state = "idle";
  }

  #close() {
    clearInterval(this.#clock);
    this.#recorder = undefined;
  }
}

const letGo = (stream: MediaStream | undefined) => stream?.getTracks().forEach((t) => t.stop());
