import { address, send, type Form } from "./api";
import { Attempt } from "./attempt.svelte";
import { hindranceOf, kinds, type Hindrance } from "./recorder.svelte";

/** How long the server may take to write down what was said, in ms. */
const patience = 5 * 60_000;

/** Speech that becomes words in a field: recorded here, and written down by the server's transcriber. Nothing of it is kept. */
export class Dictation {
  state = $state<"idle" | "asking" | "recording" | "hearing">("idle");
  hindrance = $state<Hindrance>();
  seconds = $state(0);
  readonly attempt = new Attempt();
  #recorder: MediaRecorder | undefined;
  #clock: ReturnType<typeof setInterval> | undefined;

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

  /** Lets the microphone go, and forgets what was said. */
  leave() {
    if (!this.#recorder) return;
    this.#recorder.onstop = null;
    this.#close();
    this.state = "idle";
  }

  async #start() {
    [this.hindrance, this.seconds, this.attempt.refused] = [undefined, 0, undefined];
    if (!navigator.mediaDevices?.getUserMedia || !("MediaRecorder" in globalThis)) return void (this.hindrance = "insecure");
    this.state = "asking";
    try {
      const stream = await navigator.mediaDevices.getUserMedia({ audio: true });
      const type = kinds.find((k) => MediaRecorder.isTypeSupported(k)) ?? "";
      const recorder = new MediaRecorder(stream, type ? { mimeType: type } : {});
      const parts: Blob[] = [];
      recorder.ondataavailable = ({ data }) => parts.push(data);
      recorder.onstop = () => void this.#hear(new Blob(parts, { type: (recorder.mimeType || type || "audio/webm").replace(/;.*/, "") }));
      this.#recorder = recorder;
      recorder.start();
      this.#clock = setInterval(() => this.seconds++, 1000);
      this.state = "recording";
    } catch (e) {
      this.hindrance = hindranceOf(e);
      this.state = "idle";
    }
  }

  async #hear(said: Blob) {
    this.#close();
    this.state = "hearing";
    await this.attempt.make(async () => {
      const { text } = await this.transcribe(said);
      if (text) this.heard(text);
    });
    this.state = "idle";
  }

  #close() {
    clearInterval(this.#clock);
    this.#recorder?.stream.getTracks().forEach((t) => t.stop());
    this.#recorder = undefined;
  }
}
