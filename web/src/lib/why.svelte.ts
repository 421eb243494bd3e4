import { get, type Form, type Refusal } from "./api";
import { live } from "./live.svelte";
import { asRefusal } from "./loaded.svelte";

type Step = Form<"Step">;

/** Why a run did what it did: fetched once, and made longer by what happens while it goes on. */
export class Why {
  /** All but the steps. */
  told = $state.raw<Form<"Explanation">>();
  steps = $state.raw<readonly Step[]>([]);
  problem = $state.raw<Refusal>();
  #abort: AbortController | undefined;
  #fresh: Step[] = []; // that happened and are not shown yet
  #records = new Map<number, Form<"RecordAdded">>(); // that a step is to take in
  #drawn = 0;
  #telling = false;
  #opened = 0; // how often the stream was

  constructor(readonly run: string) {}

  async load() {
    this.#abort?.abort();
    const abort = (this.#abort = new AbortController());
    const opened = this.#opened;
    try {
      const x = await get("/api/runs/{run}/explanation", { run: this.run }, abort.signal);
      if (abort.signal.aborted) return;
      this.told = x;
      this.steps = x.steps;
      this.problem = undefined;
      this.#show();
      if (this.goesOn && opened !== this.#opened) this.load(); // it may have ended before the stream was open
    } catch (e) {
      if (!abort.signal.aborted) this.problem = asRefusal(e);
    }
  }

  /** Has the story told as far as it has come. */
  async tell() {
    if (this.goesOn && !this.#telling) {
      this.#telling = true;
      await this.load();
      this.#telling = false;
    }
  }

  get goesOn(): boolean {
    return this.told?.run.status === "running";
  }

  /** Takes what happens, until the function that it returns is called. */
  follow(): () => void {
    const deaf = live.stream.hear({
      sync: ({ run }) => {
        if (run) return;
        this.#opened++;
        if (this.goesOn) this.load();
      },
      record: (r) => {
        if (r.run === this.run) this.#records.set(r.seq, r);
      },
      step: (s) => {
        if (s.run === this.run) this.#take(s);
      },
      end: ({ run }) => {
        if (run === this.run) this.load();
      },
    });
    return () => {
      deaf();
      this.#abort?.abort();
      cancelAnimationFrame(this.#drawn);
    };
  }

  #take(s: Form<"StepMade">) {
    const record = this.#records.get(s.seq);
    this.#records.clear(); // those before it are of no step
    const told = record?.data as { op?: number; label?: string; kind?: string; err?: { reason?: string; kind?: string } } | undefined;
    this.#fresh.push({
      record: s.seq,
      took_in: told?.label ?? told?.kind ?? "",
      ...(record ? { took: record.kind === "completion" ? { kind: record.kind, effect: told?.kind ?? "", label: told?.label ?? "", failure: told?.err?.reason ?? "", ...(told?.err?.kind ? { why_code: `fail.${told.err.kind}` } : {}) } : { kind: record.kind } } : {}),
      status: s.status,
      events: s.events,
      started: s.started,
      withdrawn: s.withdrawn,
      ...(record ? { at: record.at } : {}),
      ...(record?.kind === "completion" && told?.op ? { op: told.op } : {}),
    });
    this.#drawn ||= requestAnimationFrame(() => this.#show());
  }

  #show() {
    this.#drawn = 0;
    if (!this.told) return; // what is fetched comes first
    const last = this.steps.at(-1)?.record ?? -1;
    const more = this.#fresh.filter((s) => s.record > last);
    this.#fresh = [];
    if (more.length) this.steps = [...this.steps, ...more];
  }
}
