import { address, send, type Form } from "./api";
import { Attempt } from "./attempt.svelte";
import { draft, keepDraft } from "./kept";
import { beingMade, Recorder } from "./recorder.svelte";
import { forget, keptRecordings, soundOf, type Kept } from "./recordings";

/** How long the server may take to write down what was said, in ms. */
const patience = 5 * 60_000;

/**
 * Speech that becomes words in a field: recorded here, and written down by the server's transcriber. Until it is words it is kept in this browser, also when
 * that fails or the field is left.
 */
export class Dictation {
  readonly recorder: Recorder;
  readonly attempt = new Attempt();
  hearing = $state(false);
  /** Nothing was heard in what was said last. */
  nothing = $state(false);
  #kept = $state.raw<readonly Kept[]>([]);
  #left = false;

  /** `place` names the field, `heard` takes the words, and `transcribe` is the server. */
  constructor(
    private readonly user: string,
    private readonly place: string,
    private readonly heard: (words: string) => void,
    private readonly transcribe = (body: Blob) => send<Form<"Dictated">>("POST", address("/api/dictation", {}), { body, patience }),
  ) {
    this.recorder = new Recorder(user, "", (kept) => this.#note(kept), place);
  }

  /** What was said and is no words yet, the first first. */
  get waiting(): readonly Kept[] {
    return this.#kept.filter((one) => one.id !== this.recorder.making);
  }

  /** Finds what was said here before: what has become words since is put into the field. */
  async look() {
    const words = draft(this.#words);
    keepDraft(this.#words, "");
    if (words) this.heard(words);
    const all = await keptRecordings(this.user, this.place).catch(() => []); // a browser that keeps nothing has nothing
    const made = await Promise.all(all.map((one) => beingMade(one.id)));
    for (const one of all.filter((_, i) => !made[i])) this.#note(one);
  }

  /** Begins to record, or ends it and has it written down. */
  async toggle() {
    if (this.recorder.state === "idle" && !this.hearing) {
      [this.nothing, this.attempt.refused] = [false, undefined];
      await this.recorder.start();
    } else if (this.recorder.state === "recording") {
      await this.recorder.stop();
      await this.again();
    }
  }

  /** Has all that waits written down. */
  async again() {
    if (this.hearing) return;
    [this.hearing, this.nothing] = [true, false];
    for (let one; !this.#left && (one = this.waiting[0]) && (await this.#hear(one)); );
    this.hearing = false;
  }

  /** Forgets what was said. */
  async discard() {
    this.attempt.refused = undefined;
    for (const one of this.waiting) await this.#forget(one);
  }

  /** Lets the microphone go for good, also one that is given later. What was said stays kept. */
  leave() {
    this.#left = true;
    this.recorder.leave();
  }

  #hear(one: Kept): Promise<boolean> {
    return this.attempt.make(async () => {
      const body = await soundOf(one);
      const text = body.size ? (await this.transcribe(body)).text : "";
      this.nothing = !text;
      if (text && !this.#left) this.heard(text);
      else if (text) keepDraft(this.#words, [draft(this.#words), text].filter(Boolean).join(" "));
      await this.#forget(one);
    });
  }

  /** Where words are put that came after the field was left. */
  get #words() {
    return `${this.place}.dictated`;
  }

  #note(kept: Kept) {
    this.#kept = [...this.#kept.filter((one) => one.id !== kept.id), kept].sort((a, b) => a.at.localeCompare(b.at));
  }

  async #forget(one: Kept) {
    this.#kept = this.#kept.filter((other) => other.id !== one.id);
    await forget(one.id);
  }
}
