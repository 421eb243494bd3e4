import type { Form } from "./api";
import { turns } from "./stream";
import { number, reason, say, sayOr } from "./words.svelte";
import type { Key } from "../words";
import type { Why } from "../words/reasons";

/** Gives words of a key, with values put in. */
export type Say = (key: Key, values?: Record<string, string | number>) => string;
/** The fields of an event. The description of the API names them (x-fields-by-type); a test holds these words against it. */
type Fields = Record<string, any>;

/** Words for what a run tells, in the language that say speaks. */
export class Teller {
  constructor(
    private readonly say: Say,
    /** Words of a key that is made at run time, or the text itself. */
    private readonly sayOr: (key: string, text: string) => string,
    private readonly number: (n: number) => string = String,
    /** A reason of the server's. */
    private readonly reason: (said: Why) => string = (said) => said.why ?? "",
  ) {}

  /** An event: in words of the page, or of the server for a type that the page does not know. */
  event(e: Pick<Form<"Event">, "type" | "data" | "words">): string {
    const tell = e.type ? tellers[e.type] : undefined;
    if (!tell) return e.words;
    try {
      return tell((e.data ?? {}) as Fields, this).filter(Boolean).join("; ");
    } catch {
      return e.words; // its fields are not what they were
    }
  }

  /** An effect by its kind, or its label. */
  effect(kind: string, label = ""): string {
    const key = `effect.${kind}`;
    if (!this.sayOr(key, "")) return label || kind;
    const numbers = label.match(/\d+/g) ?? [];
    const lacks = this.say(key as Key, { label: "", ...Object.fromEntries([0, 1].map((i) => [i, numbers[i] === undefined ? "\0" : ""])) }).includes("\0");
    return lacks ? label || kind : this.say(key as Key, { label: label.replace(/ presides$/, ""), ...Object.fromEntries(numbers.map((n, i) => [i, n])) });
  }

  /** What a step took in; text is how the server says it. */
  took(took: Form<"Took"> | undefined, text: string): string {
    if (!took) return text;
    if (!took.effect) return this.sayOr(`took.${took.kind}`, text);
    const what = this.effect(took.effect, took.label);
    return took.failure ? this.say("took.failed", { what, why: this.reason({ ...took, why: took.failure }) }) : this.say("took.done", { what });
  }

  /** A record that is worth a line to somebody who waits; lines are how the server says it. */
  record(kind: string, data: unknown, lines: readonly string[]): string[] {
    if (!lines.length || !turns.includes(kind)) return [...lines];
    const fault = ((data as Fields | undefined)?.fault ?? {}) as { reason?: string; kind?: string };
    return [this.say(`took.${kind}` as Key, { why: this.reason({ why: fault.reason ?? "", why_code: `fail.${fault.kind}` }) })];
  }

  is = (value: unknown) => this.sayOr(`told.is.${value}`, String(value ?? ""));
  tell = (key: string, values: Record<string, string | number> = {}) => this.say(`told.${key}` as Key, values);
  budget = (kind: string) => this.sayOr(`why.budget.${kind}`, kind);
  n = (n: unknown) => this.number(Number(n ?? 0));
  share = (n: unknown) => Number(n ?? 0).toFixed(2);
  seconds = (ms: unknown) => this.number(Math.round(Number(ms ?? 0) / 100) / 10);
  size = (bytes: unknown) => (Number(bytes) < 1024 ? `${this.n(bytes)} B` : `${this.number(Math.round(Number(bytes) / 102.4) / 10)} kB`);
  /** Why something was decided or not done. */
  why = (said: Fields) => this.reason(said);
  /** Whose words had been seen, and whether they are for their owner alone: “own private” as an event has it, “own, private” as it is told. */
  labels = (text: unknown) => {
    const [, whose, , who] = /^(person|own|stranger|)(,? ?(private|public))?$/.exec(String(text ?? "")) ?? [];
    return whose === undefined ? String(text) : `${this.tell(`whose.${whose || "person"}`)}, ${this.tell(`whose.${who ?? "public"}`)}`;
  };
  list = (all: unknown) => ((all as string[] | undefined) ?? []).join(", ");
}

type Telling = (d: Fields, t: Teller) => (string | false | undefined)[];

const scored = (all: { name: string; confidence: number }[] | undefined, t: Teller) => (all ?? []).map((a) => `${t.is(a.name)} ${t.share(a.confidence)}`).join(", ");

/** How each type of event is told, by its fields. */
export const tellers: Record<string, Telling> = {
  "class.chosen": (d, t) => [t.tell("class.chosen", { type: t.is(d.query_type), confidence: t.share(d.confidence) }), d.keywords?.length && t.tell("keywords", { words: t.list(d.keywords) }), d.topic_shift && t.tell("shift")],
  "tools.offered": (d, t) => [t.tell("tools.offered", { offered: t.list(d.offered) || t.tell("none") }), d.withheld?.length && t.tell("withheld", { tools: t.list(d.withheld) })],
  "turn.taken": (d, t) => [
    t.tell("turn.taken", { turn: d.turn, most: d.max_turns, model: d.model, seconds: t.seconds(d.took_ms) }),
    d.signal ? t.tell("signal", { type: d.signal }) : t.tell("signal.none"),
    d.calls && t.tell("calls", { n: d.calls }),
    d.attempts > 1 && t.tell("attempts", { n: d.attempts }),
    d.reported_usage && t.tell("counted"),
  ],
  "signal.heard": (d, t) => [
    d.malformed
      ? t.tell("signal.malformed", { why: d.malformed })
      : d.inferred
        ? t.tell("signal.inferred", { type: d.type })
        : d.type
          ? t.tell("signal.heard", { type: d.type, confidence: t.share(d.confidence) })
          : t.tell("signal.none"),
    d.ignored && t.tell("signal.ignored", { n: d.ignored }),
    d.mentioned && t.tell("signal.mentioned", { n: d.mentioned }),
  ],
  "signal.taken": (d, t) => [t.tell("signal.taken", { type: d.type })],
  "reply.weighed": (d, t) => [t.tell(d.enough ? "reply.enough" : "reply.not-enough", { why: t.why(d) })],
  "reply.doubted": (d, t) => [t.tell("reply.doubted", { cause: t.is(d.cause), why: t.why(d) })],
  "classifier.asked": (d, t) => [t.tell("classifier.asked", { label: t.is(d.label), score: t.share(d.score) })],
  "fallback.decided": (d, t) => [t.tell("fallback.decided", { verdict: t.is(d.verdict), by: t.is(d.by), why: t.why({ ...d, why: d.because }) })],
  "tools.added": (d, t) => [d.added?.length ? t.tell("tools.added", { tools: t.list(d.added) }) : t.tell("tools.added.none")],
  "capability.missing": (d, t) => [t.tell("capability.missing", { capability: d.capability })],
  "answer.accepted": (d, t) => [t.tell("answer.accepted", { reason: t.is(d.stop_reason) }), d.earlier && t.tell("answer.earlier"), d.no_signal && t.tell("answer.no-signal")],
  "hint.given": (d, t) => [t.tell("hint.given", { text: d.text })],
  "call.done": (d, t) => [
    d.error ? t.tell("call.failed", { tool: d.tool, arguments: d.arguments, error: d.error }) : t.tell("call.done", { tool: d.tool, arguments: d.arguments, items: t.n(d.items), size: t.size(d.bytes), seconds: t.seconds(d.took_ms) }),
    d.rule && t.tell("call.rule", { rule: t.why(d.why ? d : { why: d.rule, why_code: `rule.${d.rule}` }) }),
    d.rule && t.tell("labels", { labels: t.labels(d.labels) }),
  ],
  "call.held": (d, t) => [t.tell("call.held", { tool: d.tool, arguments: d.arguments, why: t.why(d) }), t.tell("labels", { labels: t.labels(d.labels) })],
  "call.refused": (d, t) => [t.tell("call.refused", { tool: d.tool, why: t.why(d) })],
  "budget.seen": (d, t) => [
    t.tell("budget.seen", { used: ((d.used ?? []) as { kind: string; used: number; limit: number }[]).map((s) => `${t.budget(s.kind)} ${t.n(s.used)} / ${t.n(s.limit)}`).join(", ") }),
    d.last && t.tell("last"),
  ],
  "loop.found": (d, t) => [t.tell("loop.found", { pattern: t.why({ ...d, why: d.pattern }), n: d.strikes })],
  "tool.taken_away": (d, t) => [t.tell("tool.taken_away", { tool: d.tool })],
  "notes.taken": (d, t) => [t.tell("notes.taken", { tokens: t.n(d.tokens), turns: d.turns })],

  "intent.read": (d, t) => [
    t.tell("intent.read", { intent: t.is(d.intent_type), confidence: t.share(d.confidence), by: t.is(d.by) }),
    d.alternatives?.length && t.tell("or", { others: scored(d.alternatives, t) }),
    d.reasoning && t.is(d.reasoning),
  ],
  "task.resolved": (d, t) => [
    d.tasks?.length ? t.tell("task.resolved", { reference: d.reference, tasks: d.tasks.map((name: string) => `‘${name}’`).join(", "), why: t.why(d) }) : t.tell("task.unresolved", { reference: d.reference, why: t.why(d) }),
  ],
  "tool.selected": (d, t) => [t.tell("tool.selected", { tool: d.tool_name, parameters: JSON.stringify(d.parameters ?? {}), confidence: t.share(d.confidence) }), d.requires_confirmation && t.tell("with-yes")],
  "person.asked": (d, t) => [t.tell("person.asked", { intent: t.is(d.intent), kind: t.is(d.kind) }), (d.options ?? []).join(" · ")],
  "model.unheard": (d, t) => [t.tell("model.unheard", { kind: d.kind })],

  "oracle.asked": (d, t) => [t.tell("oracle.asked", { oracle: d.oracle })],
  "oracle.heard": (d, t) => [d.failed ? t.tell("oracle.silent", { oracle: d.oracle, why: t.why({ ...d, why: d.failed }) }) : t.tell("oracle.heard", { oracle: d.oracle })],
  "answer.kept": (d, t) => [t.tell("answer.kept", { file: d.file })],
  "answer.unsaved": (d, t) => [t.tell("answer.unsaved", { why: t.why({ ...d, why: d.reason }) })],
  "answers.merging": (d, t) => [t.tell("answers.merging", { oracle: d.oracle })],
  "answers.chaired": (d, t) => [t.tell("answers.chaired", { oracle: d.oracle, agree: d.agree, differ: d.differ, overlooked: d.overlooked })],
  "part.skipped": (d, t) => [t.tell("part.skipped", { what: t.is(d.what), why: t.why(d) })],
  "session.named": (d, t) => [t.tell("session.named", { name: d.name })],
  "recording.transcribed": (d, t) => [t.tell("recording.transcribed", { n: d.sequence, words: t.n(d.words) }), d.by && t.tell("by", { by: d.by }), d.flags?.length && t.tell("doubted", { flags: t.list(((d.flags ?? []) as string[]).map(t.is)) })],
  "recording.failed": (d, t) => [t.tell("recording.failed", { n: d.sequence, why: t.why({ ...d, why: d.reason }) })],

  "witness.opened": (d, t) => [
    t.tell("witness.opened", { name: t.why({ ...d, why: d.name }) }),
    d.documents && t.tell("documents", { n: d.documents, chunks: t.n(d.chunks) }),
    ...((d.unread ?? []) as string[]).map((what) => t.tell("unread", { what })),
    d.embeddings && t.tell(d.away ? "embeddings.away" : "embeddings", { model: d.embeddings }),
  ],
  "question.put": (d, t) => [t.tell("question.put", { n: d.number, text: d.text })],
  "answer.heard": (d, t) => [t.tell("answer.heard", { n: d.number, text: String(d.text ?? "").trim() }), ...((d.notes ?? []) as (Fields | string)[]).map((note) => (typeof note === "string" ? note : t.why(note)))],
  "analysis.failed": (d, t) => [t.tell("analysis.failed", { n: d.number, reason: t.why({ ...d, why: d.reason }) })],
  "detective.switched": (d, t) => [t.tell("detective.switched", { to: d.to, reason: t.why({ ...d, why: d.reason }) })],
  "ledger.kept": (d, t) => [
    d.completeness !== undefined && t.tell("ledger.kept", { n: d.number, limit: d.limit, complete: d.completeness, high: d.high, medium: d.medium, low: d.low }),
    d.contradictions && t.tell("contradictions", { n: d.contradictions }),
    d.waiting && t.tell("suspicions", { n: d.waiting }),
    d.unverified && t.tell("unverified", { n: d.unverified }),
  ],
  "inquiry.ended": (d, t) => [t.tell("inquiry.ended", { reason: t.is(d.reason) })],
};

/** Tells what happens in runs, by words that are fetched with it (speakOfAll). */
export const teller = new Teller(say, sayOr, (n) => number(n), reason);
