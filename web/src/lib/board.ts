import type { Form } from "./api";
import { say } from "./words.svelte";

type Session = Form<"InquirySession">;
export type Pair = Session["qaPairs"][number];
type Gap = Pair["gapAnalysis"]["gaps"][number];
export type Clash = Form<"InquiryContradiction">;

export const severities = ["high", "medium", "low"] as const;

/** Whom an inquiry has asked: a model, a document, or several documents. */
export function nameOf(witness: Session["witness"]): string {
  const [first, ...others] = witness?.documents ?? [];
  return first && others.length ? say("inquiry.witness.several", { name: first.name, n: others.length }) : (witness?.name ?? "");
}

/** The gaps that are open after the last answer, severe ones first. */
export function openGaps(pairs: readonly Pair[]): Gap[] {
  const rank = (g: Gap) => severities.indexOf(g.severity);
  return [...(pairs.at(-1)?.gapAnalysis.gaps ?? [])].sort((a, b) => rank(a) - rank(b));
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
