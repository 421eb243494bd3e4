import type { Form } from "./api";
import { say } from "./words.svelte";

type Session = Form<"InquirySession">;
type Pair = Session["qaPairs"][number];
export type Gap = Pair["gapAnalysis"]["gaps"][number];
export type Clash = Form<"InquiryContradiction">;

export const severities = ["high", "medium", "low"] as const;

/** How an inquiry stood after an answer: open gaps by their severity, and completeness in percent. */
export interface Standing {
  number: number;
  high: number;
  medium: number;
  low: number;
  completeness: number;
}

/** Whom an inquiry has asked: a model, a document, or several documents. */
export function nameOf(witness: Session["witness"]): string {
  const [first, ...others] = witness?.documents ?? [];
  return first && others.length ? say("inquiry.witness.several", { name: first.name, n: others.length }) : (witness?.name ?? "");
}

/** How an inquiry stood after each of its answers. */
export function standings(pairs: readonly Pair[]): Standing[] {
  return pairs.map((p) => {
    const of = (severity: string) => p.gapAnalysis.gaps.filter((g) => g.severity === severity).length;
    return { number: p.sequence, high: of("high"), medium: of("medium"), low: of("low"), completeness: p.gapAnalysis.completenessScore ?? 0 };
  });
}

/** The gaps that are open after the last answer, severe ones first. */
export function openGaps(pairs: readonly Pair[]): Gap[] {
  const rank = (g: Gap) => severities.indexOf(g.severity);
  return [...(pairs.at(-1)?.gapAnalysis.gaps ?? [])].sort((a, b) => rank(a) - rank(b));
}

/** A thread that joins two answers, by their numbers from 1, in a lane of its own so that no two lie upon each other. */
export interface Thread {
  from: number;
  to: number;
  lane: number;
}

/** Threads of contradictions: the shorter ones lie nearer to the answers. One within an answer joins nothing. */
export function threads(clashes: readonly Clash[]): Thread[] {
  const spans = clashes
    .map((c) => ({ from: Math.min(...c.qaPairIndexes) + 1, to: Math.max(...c.qaPairIndexes) + 1, lane: 0 }))
    .filter((span) => span.from < span.to)
    .sort((a, b) => a.to - a.from - (b.to - b.from) || a.from - b.from);
  const laid: Thread[] = [];
  for (const one of spans) {
    while (laid.some((other) => other.lane === one.lane && other.from <= one.to && one.from <= other.to)) one.lane++;
    laid.push(one);
  }
  return laid;
}

/** The words of an answer that clash with those of another, and those around them. */
export function marked(answer: string, words: readonly string[]): { text: string; marked: boolean }[] {
  const parts: { text: string; marked: boolean }[] = [];
  for (let at = 0; at < answer.length; ) {
    const next = words
      .filter(Boolean)
      .map((word) => ({ word, at: answer.indexOf(word, at) }))
      .filter((found) => found.at >= 0)
      .sort((a, b) => a.at - b.at || b.word.length - a.word.length)[0];
    if (!next) return [...parts, { text: answer.slice(at), marked: false }];
    if (next.at > at) parts.push({ text: answer.slice(at, next.at), marked: false });
    parts.push({ text: next.word, marked: true });
    at = next.at + next.word.length;
  }
  return parts;
}

/** Who judged the answers: models, each once. */
export function judges(pairs: readonly Pair[]): string[] {
  return [...new Set(pairs.flatMap((p) => p.analysedBy ?? []))];
}

/** One side of a contradiction: whose answer, by its number from 1, what it says, and where that stands. */
export interface Side {
  answer: number;
  words: string;
  document: string;
  page: number;
}

/** The two sides of a contradiction. One within an answer has both in it. */
export function sides(clash: Clash): Side[] {
  return clash.qaPairIndexes.map((index, side) => ({
    answer: index + 1,
    words: clash.words?.[side] ?? "",
    document: clash.places?.[side]?.document ?? "",
    page: clash.places?.[side]?.page ?? 1,
  }));
}
