import { Teller } from "./told";
import { number, reason, say, sayOr } from "./words.svelte";

/** Tells what happens in runs, by words that are fetched with it (speakOfAll). */
export const teller = new Teller(say, sayOr, (n) => number(n), reason);
