import { get, type Form } from "./api";
import { calm } from "./clock";
import { live } from "./live.svelte";
import { Loaded } from "./loaded.svelte";

type Sitting = Form<"CouncilSitting">;

/** An oracle that is asked in a sitting that goes on, with the run in which it answers. */
export interface Seated {
  id: string;
  name: string;
  round: number;
  run: string;
  /** The run had ended when this page first looked. */
  ended: boolean;
}

/** How many sittings are fetched at once. */
const page = 10;
/** How many runs are looked through for those of a sitting that goes on: its oracles in all rounds. */
const mostRuns = 100;

/** A session of the Council as it stands, while a view shows it. */
export class Meeting {
  /** Who is asked in sittings that go on, by their runs: the latest round of each. */
  seated = $state<Record<string, Seated[]>>({});
  earlier = $state<Sitting[]>([]);
  next = $state("");

  readonly session = new Loaded((signal) => get("/api/council/sessions/{session}", { session: this.id }, signal));
  readonly sittings = new Loaded(async (signal) => {
    const all = await get("/api/council/sessions/{session}/sittings", { session: this.id, limit: page }, signal);
    [this.earlier, this.next] = [[], all.next ?? ""];
    for (const s of all.sittings) if (s.run.status === "running" && !this.seated[s.run.id]) void this.#recall(s.run.id, all.session);
    return all;
  });

  constructor(readonly id: string) {}

  /** All sittings that were fetched, the latest first. */
  get all(): Sitting[] {
    return [...(this.sittings.value?.sittings ?? []), ...this.earlier];
  }

  /** The run that writes recordings down, while there is one. */
  get transcription(): string {
    const journal = this.sittings.value?.session;
    return Object.entries(live.runs).find(([, r]) => r.run?.assistant === "council.transcription" && r.run.session_id === journal)?.[0] ?? "";
  }

  load() {
    return Promise.all([this.session.load(), this.sittings.load()]);
  }

  async loadEarlier() {
    const { sittings, next } = await get("/api/council/sessions/{session}/sittings", { session: this.id, limit: page, after: this.next });
    [this.earlier, this.next] = [[...this.earlier, ...sittings], next ?? ""];
  }

  /** Keeps it as it is, until the function that it returns is called. */
  follow(): () => void {
    const again = calm(100, () => this.load());
    const heard = calm(100, () => this.session.load());
    const ours = (session?: string) => !!session && session === this.sittings.value?.session;
    // Before its first sitting is known, a sitting of any session may be that one.
    const mayBeOurs = (row: { session_id: string; assistant: string }) => ours(row.session_id) || (!this.sittings.value?.session && row.assistant.startsWith("council"));
    const unheard = live.stream.hear({
      sync: ({ run }) => !run && again(), // what ended before the stream was open is not told of
      begin: ({ row }) => mayBeOurs(row) && !row.companion && again(),
      end: ({ row }) => mayBeOurs(row) && again(),
      event: ({ session, run, type, data }) => {
        if (type === "oracle.asked" && ours(session)) this.#seat(run, data as never, false);
        else if (type === "oracle.asked" && !this.sittings.value?.session) again();
        else if (type.startsWith("recording.") && ours(session)) heard();
      },
    });
    void this.load();
    return () => {
      unheard();
      this.session.stop();
      this.sittings.stop();
    };
  }

  #seat(run: string, asked: { oracle: string; oracle_id: string; round: number; run: string }, ended: boolean) {
    const others = (this.seated[run] ?? []).filter((s) => s.id !== asked.oracle_id);
    const before = this.seated[run]?.findIndex((s) => s.id === asked.oracle_id) ?? -1;
    others.splice(before < 0 ? others.length : before, 0, { id: asked.oracle_id, name: asked.oracle, round: asked.round, run: asked.run, ended });
    this.seated[run] = others;
  }

  /** Finds out who is asked in a sitting that began before this page looked. */
  async #recall(run: string, journal: string) {
    try {
      const [{ steps }, { runs }] = await Promise.all([get("/api/runs/{run}/explanation", { run }), get("/api/runs", { session: journal, limit: mostRuns })]);
      const over = new Set(runs.filter((r) => r.status !== "running").map((r) => r.id));
      for (const e of steps.flatMap((s) => s.events)) {
        const asked = e.data as { oracle: string; oracle_id: string; round: number; run: string };
        if (e.type === "oracle.asked" && !this.seated[run]?.some((s) => s.run === asked.run)) this.#seat(run, asked, over.has(asked.run));
      }
    } catch {
      // It is shown without its oracles until it ends.
    }
  }
}
