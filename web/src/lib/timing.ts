/** A length of time as people read it. */
export function clock(seconds: number): string {
  const s = Math.max(0, Math.floor(seconds));
  const minutes = Math.floor(s / 60);
  return `${minutes}:${String(s % 60).padStart(2, "0")}`;
}

/** A part of a transcript, with when it begins, in seconds. */
export interface Spoken {
  text: string;
  seconds: number;
}

/** A sentence of a transcript, with from when to when it is said, in seconds. */
export interface Sentence {
  text: string;
  from: number;
  to: number;
}

/**
 * The sentences of a transcript. `spoken` are its parts with their times; without any all is taken to be said at the same pace, in so many seconds.
 * Within a part the pace is taken to be the same, too.
 */
export function sentences(text: string, lasting: number, spoken: readonly Spoken[] = []): Sentence[] {
  const marks: [at: number, seconds: number][] = [];
  let begun = 0;
  for (const part of spoken) {
    marks.push([begun, part.seconds]);
    begun += part.text.length;
  }
  if (!marks.length) marks.push([0, 0]);
  marks.push([text.length, Math.max(lasting, marks.at(-1)![1])]);
  let next = 1;
  const when = (at: number) => {
    while (next < marks.length - 1 && marks[next]![0] <= at) next++;
    const [[a, from], [b, to]] = [marks[next - 1]!, marks[next]!];
    return b > a ? from + ((at - a) / (b - a)) * (to - from) : from;
  };
  let at = 0;
  const all = (text.match(/[^.!?…\n]+[.!?…]*[\s]*|[.!?…\s]+/g) ?? []).map((part) => {
    const from = when(at);
    at += part.length;
    return { text: part, from, to: 0 };
  });
  all.forEach((one, i) => (one.to = all[i + 1]?.from ?? marks.at(-1)![1]));
  return all;
}

/** The place of the sentence that is said at a second; -1: none is. */
export function sentenceAt(all: readonly Sentence[], seconds: number): number {
  const at = all.findIndex((one) => one.to > seconds);
  return at >= 0 && all[at]!.from <= seconds ? at : -1;
}

/** Waits longer after each failure, in ms. */
export const backOff = (failures: number) => Math.min(30_000, 1000 * 2 ** failures);
