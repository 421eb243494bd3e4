import { get, type Form } from "./api";
import { Stream, turns, type Link } from "./stream";
import { callTold, type Call } from "./did";
import { isControl, type Why } from "./sentence";
import { nameOf } from "./models.svelte";
import { number, reason, say } from "./words.svelte";

/** A run that goes on, as far as it was told. */
export interface LiveRun {
  run: Form<"Run"> | undefined;
  /** What is told of it to whoever waits. */
  told: Why[];
  /** What the operation says that spoke last, as HTML. */
  html: string;
  op: number;
  /** The calls that were made. */
  calls: Call[];
  /** The last draft that was taken back, and why. */
  taken: { html: string; why: string } | undefined;
  /** Why the last reply was not enough. */
  lacks: string;
  /** How much a model reads, and how much of that it has read if its server tells; undefined: none reads, or not for long. */
  reading: { tokens: number; read: number } | undefined;
  /** The model that is asked again at a time, and why it did not answer; undefined: nothing pauses. */
  pause: { until: number; model: string; kind: string; why: string } | undefined;
  /** What a model thinks, as far as its provider shows it. */
  thinking: string;
  /** It has stopped short or gone on: a row that was fetched may be how it stood before. */
  turned: boolean;
}

/** Sentences of a run that are kept; the first of them go. */
const mostTold = 20;

/** How long a model may read before that is told, where its server does not say how far it is, in ms. */
const readsFor = 3000;

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
        for (const [id, one] of Object.entries(this.runs)) if (!run || run === id) one.html = one.thinking = "";
      },
      begin: ({ run, row }) => {
        this.of(run).run = row;
      },
      record: (said) => {
        if (turns.includes(said.kind)) this.of(said.run).turned = true;
        if (this.runs[said.run]) this.runs[said.run]!.thinking = "";
        this.reads(said.run, 0, 0);
        this.tell(said.run, said);
      },
      event: (said) => {
        this.tell(said.run, said);
        this.decided(this.of(said.run), said.type, said.data);
      },
      text: ({ run, op, html }) => {
        Object.assign(this.of(run), { html: html ?? "", op });
        this.reads(run, 0, 0);
      },
      thinking: ({ run, text }) => {
        this.of(run).thinking = text;
        this.reads(run, 0, 0);
      },
      reading: ({ run, tokens, read }) => this.reads(run, tokens, read),
      wait: ({ run, until, model = "", kind = "", why }) => {
        this.reads(run, 0, 0);
        this.of(run).pause = { until: Date.parse(until), model, kind, why };
      },
      retract: ({ run, op }) => {
        const one = this.of(run);
        one.thinking = "";
        this.reads(run, 0, 0);
        if (one.op === op) takeBack(one, say("talk.taken.broke"));
      },
      end: ({ run }) => {
        this.reads(run, 0, 0);
        delete this.runs[run];
      },
    });
  }

  #unread: Record<string, ReturnType<typeof setTimeout>> = {};

  /** Tells how far a model is with reading. No tokens: it reads no more. */
  private reads(id: string, tokens: number, read: number) {
    clearTimeout(this.#unread[id]);
    delete this.#unread[id];
    const one = this.runs[id] ?? (tokens ? this.of(id) : undefined);
    if (!one) return;
    one.pause = undefined; // whatever it does now, it pauses no more
    if (read) one.reading = { tokens, read };
    else if (!tokens) one.reading = undefined;
    else this.#unread[id] = setTimeout(() => (one.reading = { tokens, read }), readsFor);
  }

  private of(id: string): LiveRun {
    return (this.runs[id] ??= { run: undefined, told: [], html: "", op: 0, calls: [], taken: undefined, lacks: "", reading: undefined, pause: undefined, thinking: "", turned: false });
  }

  /** What an event decides on what is shown. */
  private decided(one: LiveRun, type: string | undefined, data: any) {
    if (type === "call.done") one.calls = [...one.calls, callTold(data)];
    else if (type === "reply.weighed") one.lacks = data.enough ? "" : reason(data);
    else if (type === "reply.doubted") one.lacks = reason(data);
    else if (type === "hint.given" && one.lacks) takeBack(one, one.lacks); // the model is told to do better
  }

  private tell(id: string, { why, why_code, why_values }: Why) {
    const one = this.of(id);
    const said = { why, why_code, why_values } as Why;
    if (why && !isControl(said)) one.told = [...one.told, said].slice(-mostTold);
  }
}

/** That a model reads, and how far it is; nothing where none does. */
export function readingTold(one: LiveRun | undefined): string {
  if (!one?.reading) return "";
  const { tokens, read } = one.reading;
  if (read) return say("talk.reading.share", { share: Math.min(100, Math.floor((100 * read) / tokens)) });
  return say("talk.reading", { tokens: number(tokens) });
}

/** That a model is asked again, and in how many seconds from now, in ms; nothing where nothing pauses. */
export function pauseTold(one: LiveRun | undefined, now: number): string {
  if (!one?.pause) return "";
  const { until, model, kind, why } = one.pause;
  const what = model ? say(kind === "rate_limit" || kind === "overloaded" ? "talk.busy" : "talk.no.answer", { model: nameOf(model) }) : why;
  const seconds = Math.ceil((until - now) / 1000);
  return seconds > 0 ? say("talk.again.in", { what, seconds: number(seconds) }) : say("talk.again.now", { what });
}

/** Whether a model thinks, and says nothing yet. */
export const thinks = (one: LiveRun | undefined) => !!one?.thinking && !one.html;

/** What a run does, or the last that is told of it; nothing where it is not followed. */
export const lastTold = (one: LiveRun | undefined, now = Date.now()) => pauseTold(one, now) || readingTold(one) || (thinks(one) ? say("talk.thinks") : "") || (one?.told.length ? reason(one.told.at(-1)!) : "");

function takeBack(one: LiveRun, why: string) {
  if (one.html) one.taken = { html: one.html, why };
  one.html = one.lacks = "";
}

export const live = new Live();
