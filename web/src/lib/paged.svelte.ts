import { Loaded } from "./loaded.svelte";

/** A part of a list, and where the next begins. */
export interface Page<T, At> {
  items: T[];
  next?: At | undefined;
}

/** A list that is fetched part after part. What was fetched stays while its first part is looked at again, so that nothing is gone under who reads it. */
export class Paged<T, At = string> {
  items = $state<T[]>([]);
  next = $state<At>();
  #extended = false;
  readonly #first: Loaded<boolean>;
  readonly #later: Loaded<boolean>;

  constructor(
    fetch: (after: At | undefined, signal: AbortSignal) => Promise<Page<T, At>>,
    readonly key: (item: T) => unknown,
  ) {
    this.#first = new Loaded(async (signal) => {
      const part = await fetch(undefined, signal);
      if (!this.#extended) this.next = part.next;
      this.items = this.#extended ? [...part.items, ...this.#without(part.items)] : part.items;
      return true;
    });
    this.#later = new Loaded(async (signal) => {
      const part = await fetch(this.next, signal);
      this.#extended = true;
      this.items = [...this.#without(part.items), ...part.items];
      this.next = part.next;
      return true;
    });
  }

  /** Fetches it anew: its first part. */
  load() {
    this.#extended = false;
    this.#later.stop();
    return this.#first.load();
  }

  /** Fetches its first part again, and keeps what comes behind. */
  look() {
    return this.#first.load();
  }

  /** Fetches the part that comes next. */
  more() {
    return this.#later.load();
  }

  stop() {
    this.#first.stop();
    this.#later.stop();
  }

  /** Its first part was fetched. */
  get there() {
    return this.#first.value;
  }

  get problem() {
    return this.#first.problem;
  }

  /** Why there is no more, though there should be. */
  get stuck() {
    return this.#later.problem;
  }

  get loading() {
    return this.#first.loading || this.#later.loading;
  }

  #without(known: T[]) {
    const keys = new Set(known.map(this.key));
    return this.items.filter((one) => !keys.has(this.key(one)));
  }
}
