import type { Refusal } from "./api";

/** A file that the server does not take, and why. */
export interface Refused {
  name: string;
  why: Refusal;
}

/**
 * Files that are sent one after the other. Those that are brought meanwhile wait for their turn. One that the server refuses for good is left out; one that
 * could not be sent for another reason holds the others up until it is tried again.
 */
export class Bringing {
  left = $state.raw<readonly File[]>([]);
  /** What was left out since files were brought last. */
  refused = $state.raw<readonly Refused[]>([]);
  #sends = false;

  /** `send` gives why a file could not be sent. */
  constructor(private readonly send: (file: File) => Promise<Refusal | undefined>) {}

  add(list: Iterable<File> | null | undefined) {
    if (!this.#sends) this.refused = [];
    this.left = [...this.left, ...(list ?? [])];
  }

  /** Sends what is left. */
  async goOn() {
    if (this.#sends) return;
    this.#sends = true;
    for (let file; (file = this.left[0]); this.left = this.left.slice(1)) {
      const why = await this.send(file);
      if (why && !why.isFinal) break;
      if (why) this.refused = [...this.refused, { name: file.name, why }];
    }
    this.#sends = false;
  }
}

/** What is still to be sent of words of which the first were: what was typed meanwhile. */
export const unsent = (words: string, sent: string) => (words.startsWith(sent) ? words.slice(sent.length).trimStart() : words);
