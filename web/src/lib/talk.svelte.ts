import { address, get, send, type Form } from "./api";
import { live } from "./live.svelte";
import { askAhead } from "./results";
import { turns } from "./stream";

type Row = Form<"Run">;

/** How many runs of a session are fetched at once. */
const page = 20;

/** The runs of a session, oldest first: those that are fetched, and where earlier ones begin. */
export class Talk {
  rows = $state.raw<readonly Row[]>([]);
  /** Where the runs before the first one are found; "" if there are none. */
  earlier = $state("");
  #fetching: Promise<void> | undefined;
  constructor(readonly session: string) {}

  /** Fetches the last runs, and what came of so many of them as are shown at first. */
  async load(signal: AbortSignal, soon = 0) {
    const told = live.opened;
    const { runs, next } = await get("/api/runs", { session: this.session, limit: page }, signal);
    const meanwhile = this.rows;
    const rows = runs.filter((r) => !r.companion).reverse();
    if (soon) askAhead(rows.filter((r) => !goesOn(r)).slice(-soon).map((r) => r.id));
    this.rows = rows;
    for (const row of meanwhile) this.take(row);
    this.earlier = next ?? "";
    await this.#complete();
    if (told !== live.opened) this.lookAgain();
    for (const row of this.rows.filter(goesOn)) if (live.runs[row.id]?.turned) void this.#settle(row.id);
  }

  /** Fetches those before the first one; what is asked for twice is fetched once. */
  loadEarlier(): Promise<void> {
    return (this.#fetching ??= this.#fetchEarlier().finally(() => (this.#fetching = undefined)));
  }

  async #fetchEarlier() {
    const { runs, next } = await get("/api/runs", { session: this.session, limit: page, after: this.earlier });
    const there = new Set(this.rows.map((r) => r.id));
    this.rows = [...runs.filter((r) => !r.companion && !there.has(r.id)).reverse(), ...this.rows];
    this.earlier = next ?? "";
    await this.#complete();
  }

  /** Fetches the earlier versions of the first exchange. They stand right before it. */
  async #complete() {
    if (this.rows[0]?.replaces && this.earlier) await this.#fetchEarlier();
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

  take(row: Row) {
    if (row.session_id !== this.session || row.companion) return;
    const at = this.rows.findIndex((r) => r.id === row.id);
    if (row.cause === "removed") this.rows = this.rows.filter((r) => r.id !== row.id);
    else if (at < 0) {
      this.rows = [...this.rows, row];
      if (goesOn(row) && live.runs[row.id]?.turned) void this.#settle(row.id);
    }
    else if (row.records >= this.rows[at]!.records) this.rows = this.rows.with(at, row); // what was asked for before may come after what was told since
  }
}

/** What is said to an assistant. */
export interface Message {
  assistant: string;
  /** Empty: it begins one. */
  session: string;
  words: string;
  options: Record<string, unknown>;
  /** The run whose place it takes; empty: it takes none. */
  replaces: string;
  /** The names of what is handed over with it. */
  files: readonly string[];
  /** It says no words: it allows calls of a run, by their numbers from 1. */
  allows?: { run: string; calls: number[] };
}

/** What this tab said, by the runs that answer: until one has ended, the server tells no more of it than a line. */
export const saidHere: Record<string, Pick<Message, "words" | "files" | "allows">> = $state({});

/** Says something, once, however often it has to be sent. Gives the run that answers. */
export async function sayTo(m: Message, key: string): Promise<Form<"Begun">> {
  const { assistant, words, options, session, replaces, allows } = m;
  if (allows) {
    const begun = await send<Form<"Begun">>("POST", address("/api/runs/{run}/allow", { run: allows.run }), { key, body: { calls: allows.calls, options } });
    saidHere[begun.run] = m;
    return begun;
  }
  const body = { assistant, words, options, ...(session ? { session } : {}), ...(replaces ? { replaces } : {}) };
  const patience = 30_000 + String(options["material"] ?? "").length / 128; // ms: pictures take their time on a slow line
  const begun = await send<Form<"Begun">>("POST", "/api/runs", { key, body, patience });
  saidHere[begun.run] = m;
  return begun;
}

/** Whether a run still has something to say. */
export const goesOn = (row: Row) => row.status === "running";

/** Whether a run has stopped short of its end, until somebody has it go on or it does so by itself. */
export const stands = (row: Row) => row.state === "paused";
