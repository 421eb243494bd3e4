import { files } from "virtual:words";
import type { Key } from "../words";
import { fill } from "./fill";
import { kept, keep } from "./kept";
import { languages, type Language } from "./languages";
import { part } from "./part";
import { sentenceIn, type Why } from "./sentence";

const isLanguage = (text: string): text is Language => text in languages;

/** The language that was chosen, or else the first of the browser's that the page has. */
function offered(): Language {
  const chosen = kept("language");
  if (isLanguage(chosen)) return chosen;
  for (const one of navigator.languages) {
    const language = one.slice(0, 2);
    if (isLanguage(language)) return language;
  }
  return "en";
}

let language = $state<Language>("en");
let words = $state.raw<Readonly<Record<string, string>>>({});
let sentences = $state.raw<Readonly<Record<string, string>>>({}); // of the server, by their codes

export const spoken = () => language;

/** What is wanted, and the fetching of it. */
let next: Language = "en";
const wanted = new Set<keyof typeof files>(["first"]);
let fetching: Promise<void>;

const fetchWords = () => (fetching = fetchNext());

async function fetchNext(): Promise<void> {
  const of = next;
  const fetched = await Promise.all([...wanted].map((file) => part(files[file][of])));
  if (of !== next) return fetching; // another language is wanted by now
  const known = of === language;
  words = Object.assign({}, known && words, ...fetched.map((f) => f.words));
  sentences = Object.assign({}, known && sentences, ...fetched.map((f) => f.sentences));
  language = of;
}

/** Fetches the words of the page, which stand before anything is shown. */
export function beginToSpeak(): Promise<void> {
  next = offered();
  return fetchWords();
}

/** Fetches the words of the views that say more than conversations do, and those for why something was decided. */
export function speakOfAll(): Promise<void> {
  wanted.add("later");
  return fetchWords();
}

/** Fetches them once something of it may be told. The server's words stand where they can't be had. */
export function mayTell() {
  if (!wanted.has("later")) speakOfAll().catch(() => wanted.delete("later"));
}

/** Speaks a language from now on, in this browser. */
export async function speak(chosen: Language) {
  const before = next;
  next = chosen;
  try {
    await fetchWords();
    keep("language", chosen);
  } catch (e) {
    next = before;
    throw e;
  }
}

/** Marks that turn the direction of all that comes after them. */
const turning = /[\u202a-\u202e\u2066-\u2069]/g;
export const withoutTurning = (text: string) => text.replace(turning, "");

/** Words in the language of the page, with values in their braces. No value turns the words around it. */
export function say(key: Key, values: Record<string, string | number> = {}): string {
  return fill(words[key] ?? key, (name) => withoutTurning(String(values[name] ?? "")), (n) => plurals().select(n) === "one");
}

/** Words of a key that is made at run time, or the text itself where there are none. */
export function sayOr(key: string, text: string, values?: Record<string, string | number>): string {
  return key in words ? say(key as Key, values) : text;
}

/** Why something was decided or not done: in the language of the page, and as the server says it until its words are there. */
export function reason(said: Why): string {
  if (said.why_code) mayTell();
  return sentenceIn(sentences, said).replace(turning, "");
}

/** What failed, in the language of the page where its kind says enough, and else as the server or a provider says it. */
export const failed = (f: { kind?: string; message?: string }) => reason({ why: f.message ?? "", ...(f.kind ? { why_code: `fail.${f.kind}` } : {}) });

/** The browser's own variant of the language, for the form of times and numbers. */
const variant = () => navigator.languages.find((l) => l.slice(0, 2) === language) ?? language;

/** What forms something, made once for each variant: to make one takes long. */
function once<T>(make: (variant: string) => T): () => T {
  const made = new Map<string, T>();
  return () => {
    const of = variant();
    if (!made.has(of)) made.set(of, make(of));
    return made.get(of)!;
  };
}

// The words are those of Portugal, where none of a thing are several.
const plurals = once((of) => new Intl.PluralRules(of === "pt" ? "pt-PT" : of));
const numbers = once((of) => new Intl.NumberFormat(of));
const hours = once((of) => new Intl.DateTimeFormat(of, { timeStyle: "short" }));
const days = once((of) => new Intl.DateTimeFormat(of, { dateStyle: "medium", timeStyle: "short" }));

const parts = once((of) => new Intl.NumberFormat(of, { maximumSignificantDigits: 3 }));

/** A number with three digits behind the point at most; below one with three that count. */
export const number = (n: number) => (Math.abs(n) < 1 ? parts() : numbers()).format(n);

/** An amount of money: with two digits that count, or the cents. A currency that the browser does not know stands behind it. */
export function money(amount: number, currency: string): string {
  const digits = amount === 0 || amount >= 1 ? { maximumFractionDigits: 2, minimumFractionDigits: 2 } : { maximumSignificantDigits: 2 };
  try {
    return new Intl.NumberFormat(variant(), { style: "currency", currency, ...digits }).format(amount);
  } catch {
    return `${new Intl.NumberFormat(variant(), digits).format(amount)} ${currency}`;
  }
}

const dates = once((of) => new Intl.DateTimeFormat(of, { dateStyle: "full" }));

/** The day of a time. */
export const day = (at: string) => dates().format(new Date(at));

/** A time of today as its hour, another one as its day and hour. */
export function moment(at: string): string {
  const time = new Date(at);
  return (time.toDateString() === new Date().toDateString() ? hours() : days()).format(time);
}
