import { get, send, type Form } from "./api";
import type { Attempt } from "./attempt.svelte";
import { calm } from "./clock.svelte";
import { live } from "./live.svelte";
import { Loaded } from "./loaded.svelte";
import { Paged } from "./paged.svelte";
import { goesOn, stands } from "./talk.svelte";
import { say } from "./words.svelte";

type Sitting = Form<"CouncilSitting">;

/** An oracle that is asked in a sitting that goes on, with the run in which it answers; "" until that is told. */
export interface Seated {
  id: string;
  name: string;
  run: string;
  /** Its run is over: what it said is fetched, for nobody tells of it any more. */
  ended: boolean;
}

type Asked = { oracle: string; oracle_id: string; run: string };

/** How many sittings are fetched at once. */
const page = 10;
/** How many runs are looked through for those of a sitting that goes on: its oracles. */
const mostRuns = 100;

/** A session of the Council as it stands, while a view shows it. */
export class Meeting {
  /** Who is asked in sittings that go on, by their runs. */
  seated = $state<Record<string, Seated[]>>({});
  /** The session of its runs; "" before its first sitting. */
  #journal = $state("");
  /** The model that was chosen for the last sitting; "" for the usual one. */
  model = $state("");

  readonly session = new Loaded((signal) => get("/api/council/sessions/{session}", { session: this.id }, signal));
  /** The latest first. */
  readonly sittings = new Paged<Sitting>(async (after, signal) => {
    const { sittings, next, session = "", model = "" } = await get("/api/council/sessions/{session}/sittings", { session: this.id, limit: page, after }, signal);
    this.#journal = session;
    if (!after) this.model = model;
    for (const { run } of sittings) if (run.status === "running" && !this.#recalled.has(run.id)) void this.#recall(run.id);
    return { items: sittings, next };
  }, (s) => s.run.id);

  /** Runs of this session that ended while it was shown, also those of oracles that nobody has told of yet. */
  readonly #over = new Set<string>();
  /** Sittings of which all is known that was before the stream was open. */
  readonly #recalled = new Set<string>();

  constructor(readonly id: string) {}

  /** The run that writes recordings down, while there is one. */
  get transcription(): string {
    return Object.entries(live.runs).find(([, r]) => r.run?.assistant === "council.transcription" && r.run.session_id === this.#journal)?.[0] ?? "";
  }

  /** The run that goes on: a sitting, or else what writes recordings down; "" if none does. */
  get going(): string {
    return this.sittings.items.find(({ run }) => goesOn(run) && !stands(run))?.run.id ?? this.transcription;
  }

  load() {
    return Promise.all([this.session.load(), this.sittings.look()]);
  }

  /** Keeps it as it is, until the function that it returns is called. */
  follow(): () => void {
    const again = calm(100, () => this.load());
    const heard = calm(100, () => this.session.load());
    const ours = (session?: string) => !!session && session === this.#journal;
    // Before its first sitting is known, a sitting of any session may be that one.
    const mayBeOurs = (row: { session_id: string; assistant: string }) => ours(row.session_id) || (!this.#journal && row.assistant.startsWith("council"));
    const unheard = live.stream.hear({
      sync: ({ run }) => {
        if (run) return;
        this.#recalled.clear(); // what ended before the stream was open is not told of
        again();
      },
      begin: ({ row }) => mayBeOurs(row) && !row.companion && again(),
      end: ({ run, row }) => {
        if (!mayBeOurs(row)) return;
        this.#ends(run);
        again();
      },
      event: ({ session, run, type, data }) => {
        if (type === "oracle.asked" && ours(session)) this.#seat(run, data as never);
        else if (type === "oracle.asked" && !this.#journal) again();
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

  /** Begins a sitting, with the options of the Council; then is told of its run. Whether that worked. */
  begin(attempt: Attempt, options: Record<string, unknown>, then: (run: string) => unknown): Promise<boolean> {
    const all = { assistant: "council", words: say("council.ask"), options: { session: this.id, ...options } };
    return attempt.once(all, async (key, body) => {
      const begun = await send<Form<"Begun">>("POST", "/api/runs", { key, body });
      await then(begun.run);
    });
  }

  /** Seats who was just asked in a sitting, before the server tells of their runs, and fetches it. */
  async asked(run: string, who: readonly { id: string; name: string }[]) {
    const there = this.seated[run] ?? [];
    this.seated[run] = [...there, ...who.filter(({ id }) => !there.some((s) => s.id === id)).map(({ id, name }) => ({ id, name, run: "", ended: false }))];
    await this.sittings.look();
  }

  #seat(run: string, asked: Asked) {
    const all = [...(this.seated[run] ?? [])];
    const at = all.findIndex((s) => s.id === asked.oracle_id);
    all.splice(at < 0 ? all.length : at, 1, { id: asked.oracle_id, name: asked.oracle, run: asked.run, ended: this.#over.has(asked.run) });
    this.seated[run] = all;
  }

  #ends(run: string) {
    this.#over.add(run);
    for (const one of Object.values(this.seated).flat()) if (one.run === run) one.ended = true;
  }

  /** Finds out who is asked in a sitting that began before this page looked, and who has ended. */
  async #recall(run: string) {
    this.#recalled.add(run);
    try {
      const [{ steps }, { runs }] = await Promise.all([get("/api/runs/{run}/explanation", { run }), get("/api/runs", { session: this.#journal, limit: mostRuns })]);
      for (const r of runs) if (r.status !== "running") this.#ends(r.id);
      for (const e of steps.flatMap((s) => s.events)) {
        const asked = e.data as unknown as Asked;
        if (e.type === "oracle.asked" && !this.seated[run]?.some((s) => s.run === asked.run)) this.#seat(run, asked);
      }
    } catch {
      this.#recalled.delete(run); // it is shown without its oracles until it is looked at again
    }
  }
}
