import { fill } from "./fill";

/** A sentence of the server: in English, with its code and what stands in it. Words that are nobody's to word have no code. */
export interface Why {
  why?: string;
  why_code?: string;
  why_values?: Record<string, Why>;
}

/** A sentence by the catalogue of a language. What has no code in it stays as the server says it. */
export function sentenceIn(catalogue: Readonly<Record<string, string>>, said: Why): string {
  const words = catalogue[said.why_code ?? ""];
  return words === undefined ? (said.why ?? "") : fill(words, (name) => sentenceIn(catalogue, said.why_values?.[name] ?? {}));
}

/** Whether a sentence is about how a run is controlled: an explanation tells it, and whoever waits for the run is spared it. */
export const isControl = (said: Why) => !!said.why_code?.startsWith("control.");
