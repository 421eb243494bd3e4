import { draft, keepDraft } from "./kept";

/** A question whose place another one is to take: its run, and the names of its files. */
export interface Earlier {
  run: string;
  files: readonly string[];
}

/** What is sent. */
export interface Sent {
  words: string;
  /** Whose place it takes, with its files. */
  earlier: Earlier | undefined;
}

/** Files that are handed over with what is written, and the one that is still being read. */
interface Files {
  /** Those that were sent are taken away. */
  files: unknown[];
  readonly reading: string;
}

/** What somebody writes, until it has been sent: one thing after the other, and nothing of what is typed or pressed meanwhile is lost. */
export class Writing {
  words = $state("");
  sending = $state(false);
  #edits = 0; // how often words were put to be changed
  #saying = ""; // what is being sent
  #next: ((arrived: boolean) => Promise<void>) | undefined; // what was asked for meanwhile: an answer may be there before its question is known to have arrived

  /** `place` names the draft: what is not sent survives a reload and being signed out. `deliver` says whether it arrived. */
  constructor(
    private readonly place: string,
    private readonly handed: Files,
    private readonly deliver: (what: Sent) => Promise<boolean>,
    private readonly arrived: () => void,
  ) {
    this.words = draft(place);
  }

  keep() {
    keepDraft(this.place, this.words);
  }

  /** Sends what is written. While something is sent, what is written after it is sent once that has arrived; the same again is not. */
  async press(): Promise<void> {
    if (!this.sending) return this.#send(this.words);
    if (this.words !== this.#saying) this.#next = async (arrived) => (arrived ? this.#send(this.words) : undefined);
  }

  /** Says words at once. */
  put(text: string): Promise<void> {
    return this.#whenFree(text, () => this.#send(text));
  }

  /** Has a question asked anew, with its own files. */
  again(text: string, earlier: Earlier): Promise<void> {
    return this.#whenFree(text, () => this.#send(text, earlier));
  }

  /** Puts words where they can be changed. */
  edit(text: string) {
    this.#edits++;
    this.words = text;
  }

  /** Puts words after those that are written, where they can be changed. */
  add(text: string) {
    this.words = [this.words, text].filter((one) => one.trim()).join("\n\n");
  }

  async #whenFree(text: string, does: () => Promise<void>) {
    if (!this.sending) await does();
    else if (text !== this.#saying) this.#next = does;
  }

  async #send(words: string, earlier?: Earlier) {
    if (!words.trim() || this.sending || this.handed.reading) return;
    this.sending = true;
    this.#saying = words;
    const before = this.#edits;
    const files = [...this.handed.files];
    const arrived = await this.deliver({ words, earlier });
    this.sending = false;
    if (arrived) {
      const edited = this.#edits !== before; // while it was sent
      if (!earlier && !edited && this.words.startsWith(words)) this.words = this.words.slice(words.length).trimStart();
      this.keep(); // whoever showed it may be gone by now
      if (!earlier) this.handed.files = this.handed.files.filter((f) => !files.includes(f));
      this.arrived();
    }
    const next = this.#next;
    this.#next = undefined;
    await next?.(arrived);
  }
}
