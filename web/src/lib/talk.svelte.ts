import { address, get, Refusal, send, type Form } from "./api";
import { live } from "./live.svelte";
import { askAhead } from "./results";
import { turns } from "./stream";

type Row = Form<"Run">;

/** How many runs of a branch are fetched at once. */
const page = 20;

/** The runs of a branch of a session, oldest first: those that are fetched, and where earlier ones begin. */
export class Talk {
  rows = $state.raw<readonly Row[]>([]);
  /** Of each run that has others in its place: their ids and its own, in the order of their start. */
  versions = $state.raw<Readonly<Record<string, readonly string[]>>>({});
  /** The versions that began elsewhere while this branch was shown. */
  fresh = $state.raw<ReadonlySet<string>>(new Set());
  /** Where the runs before the first one are found; "" if there are none. */
  earlier = $state("");
  #fetching: Promise<void> | undefined;
  #others = new Set<string>(); // runs of other branches
  #loads = 0;
  constructor(readonly session: string) {}

  /** Fetches the last runs of the branch that a run is of, or of the one in force, and what came of so many of them as are shown at first. */
  async load(signal: AbortSignal, soon = 0, of = "") {
    const told = live.opened;
    const load = ++this.#loads;
    const { runs, next } = await this.#fetch(of, "", signal);
    if (load !== this.#loads) return; // another branch was asked for since
    const meanwhile = of ? this.rows.filter((known) => runs.some((r) => r.id === known.id)) : this.rows;
    const rows = runs.filter((r) => !r.companion).reverse();
    if (soon) askAhead(rows.filter((r) => !goesOn(r)).slice(-soon).map((r) => r.id));
    this.rows = rows;
    this.versions = versionsIn(rows);
    this.fresh = new Set();
    this.#others.clear();
    this.earlier = next ?? "";
    for (const row of meanwhile) this.take(row);
    if (told !== live.opened) this.lookAgain();
    for (const row of this.rows.filter(goesOn)) if (live.runs[row.id]?.turned) void this.#settle(row.id);
  }

  async #fetch(of: string, after: string, signal?: AbortSignal): Promise<Form<"Branch">> {
    const asked = { session: this.session, limit: page, after };
    try {
      return await get("/api/sessions/{session}/branch", { ...asked, of }, signal);
    } catch (e) {
      if (!of || after || !(e instanceof Refusal) || e.status !== 404) throw e;
      return get("/api/sessions/{session}/branch", asked, signal); // an address may name any run
    }
  }

  /** Fetches those before the first one; what is asked for twice is fetched once. */
  loadEarlier(): Promise<void> {
    return (this.#fetching ??= this.#fetchEarlier().finally(() => (this.#fetching = undefined)));
  }

  async #fetchEarlier() {
    const load = this.#loads;
    const { runs, next } = await this.#fetch(this.rows.at(-1)?.id ?? "", this.earlier);
    if (load !== this.#loads) return;
    const there = new Set(this.rows.map((r) => r.id));
    const before = runs.filter((r) => !r.companion && !there.has(r.id)).reverse();
    this.rows = [...before, ...this.rows];
    this.versions = { ...versionsIn(before), ...this.versions };
    this.earlier = next ?? "";
  }

  /** Has what happens to the runs of this session change them, until the function that it returns is called. */
  follow(): () => void {
    return live.stream.hear({
      sync: ({ run }) => {
        if (!run) this.lookAgain();
      },
      begin: ({ row }) => this.take(row),
      record: ({ run, kind }) => {
        if (!turns.includes(kind) || !this.rows.some((r) => r.id === run)) return;
        if (kind === "resume") this.look(run);
        else void this.#settle(run);
      },
      end: ({ row }) => this.take(row),
    });
  }

  /** Looks again at the runs that went on when they were fetched: one that ended before the stream was open is not told of. */
  private lookAgain() {
    for (const row of this.rows.filter(goesOn)) this.look(row.id);
  }

  /** Looks at a run anew. */
  look(run: string) {
    get("/api/runs/{run}", { run }).then((now) => this.take(now), () => undefined);
  }

  /** Looks at a run that has stopped short until whoever drove it has let it go: that comes after what is told of it, and is not told. */
  async #settle(run: string) {
    for (const pause of [0, 200, 500, 1500, 4000]) {
      await new Promise((done) => setTimeout(done, pause));
      const now = await get("/api/runs/{run}", { run }).catch(() => undefined);
      if (now) this.take(now);
      if (now && (!goesOn(now) || stands(now))) return;
    }
  }

  /** What is known of a run now. One that has begun is shown if it goes on with what is shown; if it is `ours`, what is shown becomes its branch. */
  take(row: Row, ours = false) {
    if (row.session_id !== this.session || row.companion) return;
    const at = this.rows.findIndex((r) => r.id === row.id);
    if (row.cause === "removed") this.rows = this.rows.filter((r) => r.id !== row.id);
    else if (at < 0) this.#place(row, ours);
    else if (row.records >= this.rows[at]!.records) this.rows = this.rows.with(at, row); // what was asked for before may come after what was told since
  }

  #place(row: Row, ours: boolean) {
    const last = this.rows.at(-1);
    if (!row.replaces && (!row.follows || !last || row.follows === last.id)) return this.#append(this.rows, row, [row.id]);
    const at = row.replaces
      ? this.rows.findIndex((r) => this.versionsOf(r.id).includes(row.replaces!))
      : this.rows.findIndex((_, n) => this.rows[n - 1]?.id === row.follows);
    if (at < 0) {
      if (ours) void this.load(new AbortController().signal, 0, row.id).catch(() => undefined);
      else if (!this.#others.has(row.id)) void this.#findOut(row.id);
      return;
    }
    const shown = this.rows[at]!.id;
    const versions = [...this.versionsOf(shown).filter((id) => id !== row.id), row.id];
    if (ours) return this.#append(this.rows.slice(0, at), row, versions);
    if (this.versionsOf(shown).includes(row.id)) return;
    this.versions = { ...this.versions, [shown]: versions };
    this.fresh = new Set([...this.fresh, row.id]);
  }

  #append(before: readonly Row[], row: Row, versions: readonly string[]) {
    this.rows = [...before, row];
    this.versions = { ...this.versions, [row.id]: versions };
    this.fresh = new Set([...this.fresh].filter((id) => id !== row.id));
    if (goesOn(row) && live.runs[row.id]?.turned) void this.#settle(row.id);
  }

  /** Finds out whether a run is of the branch that is shown, which is not seen where the runs before it are not told of. */
  async #findOut(run: string) {
    const load = this.#loads;
    this.#others.add(run);
    const { runs } = await this.#fetch(this.rows.at(-1)?.id ?? "", "").catch(() => ({ runs: [] }));
    if (load !== this.#loads) return;
    const there = new Set(this.rows.map((r) => r.id));
    for (const row of runs.filter((r) => !r.companion && !there.has(r.id)).reverse()) this.#append(this.rows, row, row.versions);
  }

  /** The ids of a run and of those in its place in other branches, in the order of their start. */
  versionsOf(run: string): readonly string[] {
    return this.versions[run] ?? [run];
  }
}

const versionsIn = (rows: readonly Form<"BranchRow">[]) => Object.fromEntries(rows.map((r) => [r.id, r.versions]));

/** What is said to an assistant. */
export interface Message {
  assistant: string;
  /** Empty: it begins one. */
  session: string;
  words: string;
  options: Record<string, unknown>;
  /** The run whose place it takes; empty: it takes none. */
  replaces: string;
  /** The run that it goes on from; left out: the latest. */
  follows?: string;
  /** The names of what is handed over with it. */
  files: readonly string[];
  /** It says no words: it allows calls of a run, by their numbers from 1. */
  allows?: { run: string; calls: number[] };
}

/** What this tab said, by the runs that answer: until one has ended, the server tells no more of it than a line. */
export const saidHere: Record<string, Pick<Message, "words" | "files" | "allows">> = $state({});

/** Says something, once, however often it has to be sent. Gives the run that answers. */
export async function sayTo(m: Message, key: string): Promise<Form<"Begun">> {
  const { assistant, words, options, session, replaces, follows, allows } = m;
  if (allows) {
    const begun = await send<Form<"Begun">>("POST", address("/api/runs/{run}/allow", { run: allows.run }), { key, body: { calls: allows.calls, options } });
    saidHere[begun.run] = m;
    return begun;
  }
  const body = { assistant, words, options, ...(session ? { session } : {}), ...(replaces ? { replaces } : follows ? { follows } : {}) };
  const patience = 30_000 + String(options["material"] ?? "").length / 128; // ms: pictures take their time on a slow line
  const begun = await send<Form<"Begun">>("POST", "/api/runs", { key, body, patience });
  saidHere[begun.run] = m;
  return begun;
}

/** Whether a run still has something to say. */
export const goesOn = (row: Row) => row.status === "running";

/** Whether a run has stopped short of its end, until somebody has it go on or it does so by itself. */
export const stands = (row: Row) => row.state === "paused";
