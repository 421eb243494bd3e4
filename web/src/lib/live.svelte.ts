import { get, type Form } from "./api";
import { Stream, type Link } from "./stream";
import { teller } from "./words.svelte";

/** A run that goes on, as far as it was told. */
export interface LiveRun {
  run: Form<"Run"> | undefined;
  /** What it did, in words. */
  lines: string[];
  /** What the operation says that spoke last, as HTML. */
  html: string;
  op: number;
}

/** Lines of a run that are kept; the first of them go. */
const mostLines = 20;

/** All runs that go on, by their ids, and the connection that tells of them. */
class Live {
  link = $state<Link>("connecting");
  runs = $state<Record<string, LiveRun>>({});
  /** How often the stream was opened. What ended before it was open is not told: who fetched something by then looks again. */
  opened = 0;
  readonly stream = new Stream(
    (link) => (this.link = link),
    undefined,
    () => void get("/api/me").catch(() => undefined), // who was signed out meanwhile is told so by a request
  );

  constructor() {
    this.stream.hear({
      sync: ({ run }) => {
        if (!run) this.opened++;
        for (const [id, one] of Object.entries(this.runs)) if (!run || run === id) one.html = "";
      },
      begin: ({ run, row }) => (this.of(run).run = row),
      record: ({ run, kind, data, lines }) => this.say(run, teller.record(kind, data, lines)),
      event: ({ run, type, data, words, lines }) => this.say(run, lines.length ? [teller.event({ type, data, words })] : []),
      text: ({ run, op, html }) => Object.assign(this.of(run), { html: html ?? "", op }),
      retract: ({ run, op }) => {
        const one = this.of(run);
        if (one.op === op) one.html = "";
      },
      end: ({ run }) => {
        delete this.runs[run];
      },
    });
  }

  private of(id: string): LiveRun {
    return (this.runs[id] ??= { run: undefined, lines: [], html: "", op: 0 });
  }

  private say(id: string, lines: readonly string[]) {
    const one = this.of(id);
    if (lines.length) one.lines = [...one.lines, ...lines].slice(-mostLines);
  }
}

export const live = new Live();
