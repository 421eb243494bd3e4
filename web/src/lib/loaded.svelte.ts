import { Refusal } from "./api";
import { mayTell, reason, say, sayOr, spoken } from "./words.svelte";

/** Something that is fetched, with what is shown until it is there or when it is not. What was asked for last wins. */
export class Loaded<T> {
  value = $state<T>();
  problem = $state<Refusal>();
  loading = $state(false);
  #abort: AbortController | undefined;

  constructor(private readonly fetch: (signal: AbortSignal) => Promise<T>) {}

  async load() {
    this.stop();
    const { signal } = (this.#abort = new AbortController());
    this.loading = true;
    try {
      const value = await this.fetch(signal);
      if (signal.aborted) return;
      this.value = value;
      this.problem = undefined;
    } catch (e) {
      if (!signal.aborted) this.problem = asRefusal(e);
    } finally {
      if (!signal.aborted) this.loading = false;
    }
  }

  stop() {
    this.#abort?.abort();
  }
}

/** Has something fetched while a component lasts and a condition holds, and anew when what that reads has changed. */
export function whileShown<T extends { load(): unknown; stop(): void }>(what: T, when = () => true): T {
  $effect(() => {
    if (when()) void what.load();
    return () => what.stop();
  });
  return what;
}

/** Whatever went wrong, as something that can be shown. */
export const asRefusal = (e: unknown) => (e instanceof Refusal ? e : new Refusal(0, "broken", e instanceof Error ? e.message : String(e)));

/** What went wrong: in English as the server says it, which may know more; in another language by its sentence or kind, or else as the server says it. */
export function why(e: Refusal): string {
  if (e.kind === "unreachable") return `${say("app.unreachable")} ${say("app.unreachable.hint")}`;
  if (spoken() === "en") return e.words;
  if (e.told.why_code) return reason({ ...e.told, why: e.words });
  mayTell();
  return sayOr(`problem.${e.kind}`, e.words, { detail: e.words });
}
