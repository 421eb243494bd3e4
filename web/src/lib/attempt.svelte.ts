import type { Refusal } from "./api";
import { asRefusal, why } from "./loaded.svelte";

/** What a person has done: whether it is under way, and why it could not be done. */
export class Attempt {
  busy = $state(false);
  refused = $state.raw<Refusal>();

  get problem(): string {
    return this.refused ? why(this.refused) : "";
  }

  #pending: { of: string; key: string } | undefined;

  /** Sends something that is to be done once: sent again after it was refused or lost, it has the same key, for as long as all of it is the same. Whether that worked. */
  async once<T>(all: T, post: (key: string, all: T) => Promise<unknown>): Promise<boolean> {
    const of = JSON.stringify(all);
    if (this.#pending?.of !== of) this.#pending = { of, key: crypto.randomUUID() };
    const { key } = this.#pending;
    const done = await this.make(() => post(key, all));
    if (done) this.#pending = undefined;
    return done;
  }

  /** Does something; whether that worked. */
  async make(what: () => Promise<unknown>): Promise<boolean> {
    this.busy = true;
    this.refused = undefined;
    try {
      await what();
      return true;
    } catch (e) {
      this.refused = asRefusal(e);
      return false;
    } finally {
      this.busy = false;
    }
  }
}
