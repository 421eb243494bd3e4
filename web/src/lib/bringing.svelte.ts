/** Files that are sent one after the other. Those that are brought meanwhile wait behind, and one that could not be sent holds the others up until it is tried again. */
export class Bringing {
  left = $state.raw<readonly File[]>([]);
  #sends = false;

  /** `send` says whether a file was sent. */
  constructor(private readonly send: (file: File) => Promise<boolean>) {}

  add(list: Iterable<File> | null | undefined) {
    this.left = [...this.left, ...(list ?? [])];
  }

  /** Sends what is left. */
  async goOn() {
    if (this.#sends) return;
    this.#sends = true;
    for (let file; (file = this.left[0]) && (await this.send(file)); ) this.left = this.left.slice(1);
    this.#sends = false;
  }
}

/** What is still to be sent of words of which the first were: what was typed meanwhile. */
export const unsent = (words: string, sent: string) => (words.startsWith(sent) ? words.slice(sent.length).trimStart() : words);
