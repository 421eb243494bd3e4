import { draft, keepDraft } from "./kept";

/** How many messages are remembered. */
const most = 30;

/** What was said last, for whoever wants to say it again or differently. */
export class Recall {
  #at = 0; // how far back one is; 0: not at all

  constructor(private readonly user: string) {}

  get #said(): string[] {
    try {
      return JSON.parse(draft(`said.${this.user}`) || "[]") as string[];
    } catch {
      return [];
    }
  }

  note(words: string) {
    this.#at = 0;
    const all = this.#said.filter((w) => w !== words);
    keepDraft(`said.${this.user}`, JSON.stringify([...all, words].slice(-most)));
  }

  /** What was said before what stands in the field; undefined: nothing, or the field holds other words. */
  older(field: string): string | undefined {
    const all = this.#said;
    if (field !== (this.#at ? all.at(-this.#at) : "")) {
      if (field) return undefined;
      this.#at = 0;
    }
    return this.#at < all.length ? all.at(-++this.#at) : undefined;
  }

  /** What was said after it; "" behind the last. */
  newer(field: string): string | undefined {
    const all = this.#said;
    if (!this.#at || field !== all.at(-this.#at)) return undefined;
    return --this.#at ? all.at(-this.#at) : "";
  }
}
