import { account } from "./account.svelte";
import { get, type Form } from "./api";
import { live } from "./live.svelte";
import { Loaded } from "./loaded.svelte";

/** What the runs of a session cost, while views show it. */
class SessionCosts {
  readonly loaded: Loaded<Form<"Costs">>;
  #users = 0;
  #unheard: (() => void) | undefined;

  constructor(readonly session: string) {
    this.loaded = new Loaded((signal) => get("/api/sessions/{session}/costs", { session }, signal));
  }

  /** What a run cost, or all of them without one; 0 where nothing is known. */
  of(run?: string): number {
    const all = this.loaded.value;
    return (run ? all?.runs.find((r) => r.run === run)?.cost : all?.cost) ?? 0;
  }

  /** Keeps it as it is, until the function that it returns is called. */
  follow(): () => void {
    if (!this.#users++) {
      // At once: a view that waited would take what it waits for with it when it goes, as that of a run does with its end.
      this.#unheard = live.stream.hear({ end: ({ row }) => row.session_id === this.session && void this.loaded.load() });
      void this.loaded.load();
    }
    return () => {
      if (--this.#users) return;
      this.#unheard?.();
      this.loaded.stop();
      if (known.get(this.session) === this) known.delete(this.session);
    };
  }
}

const known = new Map<string, SessionCosts>();

/** What a session cost; undefined where the server knows no prices. */
export function costsOf(session: string): SessionCosts | undefined {
  if (!account.me?.currency || !session) return undefined;
  const one = known.get(session) ?? new SessionCosts(session);
  known.set(session, one);
  return one;
}
