import { Attempt } from "./attempt.svelte";

/** How the saving of a value goes: whether it is saved, why it could not be, and whether it may be kept all the same. */
export class Saving {
  readonly attempt = new Attempt();
  /** What came of it, for the person. */
  said = $state("");
  #sent: string | undefined; // what was refused last

  /** Saves a value; `save` gives what is said then. Nothing is saved while something is. Whether that worked. */
  async save(value: string, save: () => Promise<string>): Promise<boolean> {
    if (this.attempt.busy) return false;
    [this.said, this.#sent] = ["", value];
    const done = await this.attempt.make(async () => {
      this.said = await save();
    });
    if (done) this.#sent = undefined;
    return done;
  }

  /** The value was refused since it can't work as things are now. */
  mayKeep(value: string): boolean {
    return this.attempt.refused?.kind === "setting_unfit" && value === this.#sent;
  }

  /** Another value is typed: what was refused is of no matter any more. */
  forget() {
    [this.attempt.refused, this.#sent] = [undefined, undefined];
  }
}
