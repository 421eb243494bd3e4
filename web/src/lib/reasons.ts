import { reasons } from "../words/reasons";

/** How long a text may be that is held against the sentences: none of them is longer, whatever its values are. */
const longest = 2000;

/** The sentences with values in them, and what finds those. The longer ones come first, for a value may be a sentence of its own. */
const formed = reasons
  .filter(([english]) => english.includes("{0}"))
  .map((words) => ({ words, find: new RegExp(`^${words[0].replace(/[.*+?^$()|[\]\\]/g, "\\$&").replace(/\{\d\}/g, "(.+?)")}$`, "s") }))
  .sort((a, b) => b.words[0].length - a.words[0].length);
const whole = new Map(reasons.map((words) => [words[0], words]));

/** Why something was decided or not done, as the server says it, in a language of the page. What is no sentence of the server's stays as it is. */
export function reasonIn(language: number, text: string): string {
  const known = whole.get(text);
  if (known) return known[language]!;
  if (!language || text.length > longest) return text;
  for (const { words, find } of formed) {
    const found = find.exec(text);
    if (found) return words[language]!.replace(/\{(\d)\}/g, (_, n: string) => reasonIn(language, found[Number(n) + 1]!));
  }
  return text;
}

/** The rules by which a call is let through, and the sentence that each stands for. */
export const rules: Record<string, string> = {
  stays: "nothing of it leaves the machine",
  words: "own words may cause a write",
  public: "nothing private was read",
  known: "the person or a search engine named the address",
  query: "short, and of words that the person or the web said",
  trusted: "the person lets the server have what is private",
  tree: "the tree lets it through",
  allowed: "the person said yes",
};
