import type { Form } from "./api";
import { traceOf } from "./trace";
import { reason, say, sayOr } from "./words.svelte";

/** An event: the sentence that tells it to people, or else the event as it is kept. */
export const eventTold = (e: Form<"Event">) => (e.why ? reason(e) : traceOf(e));

/** An effect, by its kind. Its label stands in the words of a kind whose labels are names. */
export const effectTold = (kind: string, label = "") => sayOr(`effect.${kind}`, label || kind, { label });

/** What a step took in; text is how the server says it. */
export function tookTold(took: Form<"Took"> | undefined, text: string): string {
  if (!took) return text;
  if (!took.effect) return sayOr(`took.${took.kind}`, text);
  const what = effectTold(took.effect, took.label);
  return took.failure ? say("took.failed", { what, why: reason({ ...took, why: took.failure }) }) : say("took.done", { what });
}
