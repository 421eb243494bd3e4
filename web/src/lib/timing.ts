/** A length of time as people read it. */
export function clock(seconds: number): string {
  const s = Math.max(0, Math.floor(seconds));
  const minutes = Math.floor(s / 60);
  return `${minutes}:${String(s % 60).padStart(2, "0")}`;
}

/** A part of a transcript, with about when it is said, as a share of the recording. */
export interface Spoken {
  text: string;
  from: number;
  to: number;
}

/**
 * The sentences of a transcript, with when they are said if all is said at the same pace: transcripts have no times. Whatever is long goes in parts.
 */
export function sentences(text: string): Spoken[] {
  const all = text.match(/[^.!?…\n]+[.!?…]*[\s]*|[.!?…\s]+/g) ?? [];
  let at = 0;
  return all.map((part) => {
    const from = at / text.length;
    at += part.length;
    return { text: part, from, to: at / text.length };
  });
}

/** Waits longer after each failure, in ms. */
export const backOff = (failures: number) => Math.min(30_000, 1000 * 2 ** failures);
