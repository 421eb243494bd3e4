import { get, Refusal } from "./api";
import { say } from "./words.svelte";

/** How often it is looked whether the server has started again, and how long it may take, in ms. */
const often = 400;
const longest = 2 * 60_000;

/** Waits until the server has opened its settings anew, which were opened at `before`. False once nobody waits any more. Throws a Refusal that asking again would not change, and one after two minutes. */
export async function startedAgain(before: string, waits: AbortSignal): Promise<boolean> {
  for (const until = Date.now() + longest; ; ) {
    await new Promise((done) => setTimeout(done, often));
    if (waits.aborted) return false;
    const now = await get("/api/settings", {}, waits).catch((e) => {
      // The file can't be read, so that the settings in force are those before; or who asks is no longer known.
      if (e instanceof Refusal && (e.kind === "setting_refused" || [401, 403].includes(e.status))) throw e;
      return undefined;
    });
    if (waits.aborted) return false;
    if (now && now.opened !== before) return true;
    if (Date.now() > until) throw new Refusal(0, "slow", say("setup.slow"));
  }
}
