import type { Refusal } from "./api";
import { asRefusal, why } from "./loaded.svelte";

/** What a person has done: whether it is under way, and why it could not be done. */
export class Attempt {
  busy = $state(false);
  refused = $state.raw<Refusal>();

  get problem(): string {
    return this.refused ? why(this.refused) : "";
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
