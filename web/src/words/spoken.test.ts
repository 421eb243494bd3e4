import { parse, type AST } from "svelte/compiler";
import { expect, test } from "vitest";
import { languages, sentences, words } from ".";

const components = import.meta.glob<string>("/src/**/*.svelte", { query: "?raw", import: "default", eager: true });

/** Attributes that a person reads or hears. */
const told = ["aria-label", "title", "placeholder", "alt", "label", "aria-roledescription", "text", "act"];
/** What is called the same in each language. */
const names = new Set(["Sibyl", "(Ctrl+K)"]);
const letters = /\p{L}/u;

type Node = { type: string } & Record<string, unknown>;

/** The texts that an expression may give as they stand in it: what is looked up by a key is none. */
function textsOf(e: Node): string[] {
  switch (e.type) {
    case "Literal":
      return typeof e.value === "string" ? [e.value] : [];
    case "TemplateLiteral":
      return [...(e.quasis as { value: { cooked: string } }[]).map((q) => q.value.cooked), ...(e.expressions as Node[]).flatMap(textsOf)];
    case "ConditionalExpression":
      return [e.consequent, e.alternate].flatMap((one) => textsOf(one as Node));
    case "LogicalExpression":
      return [...(e.operator === "&&" ? [] : textsOf(e.left as Node)), ...textsOf(e.right as Node)];
    case "BinaryExpression":
      return e.operator === "+" ? [e.left, e.right].flatMap((one) => textsOf(one as Node)) : [];
  }
  return [];
}

/** The texts of a component that are shown whatever the language is. */
function shown(source: string): string[] {
  const all: string[] = [];
  const walk = (node: unknown, inCode: boolean): void => {
    if (Array.isArray(node)) return node.forEach((one) => walk(one, inCode));
    if (!node || typeof node !== "object" || !("type" in node)) return;
    const one = node as Node;
    if (one.type === "Text") return void (inCode || all.push(String(one.data)));
    if (one.type === "StyleDirective") return;
    if (one.type === "ExpressionTag") return void (inCode || all.push(...textsOf(one.expression as Node)));
    if (one.type === "Attribute") {
      if (!told.includes(String(one.name)) || one.value === true) return;
      return [one.value].flat().forEach((part) => walk(part, inCode));
    }
    const attributes = (one.attributes ?? []) as AST.Attribute[];
    const code = inCode || ["code", "pre", "script", "style"].includes(String(one.name)) || attributes.some((a) => a.name === "translate");
    for (const [name, child] of Object.entries(one)) if (name !== "metadata") walk(child, code);
  };
  walk(parse(source, { modern: true }).fragment, false);
  return all.filter((text) => letters.test(text)).map((text) => text.trim());
}

test("no component has words of its own: what it shows comes from the words of a language", () => {
  expect(Object.keys(components).length).toBeGreaterThan(60);
  const own = Object.entries(components).flatMap(([file, source]) => shown(source).filter((text) => !names.has(text)).map((text) => `${file}: ${text}`));
  expect(own).toEqual([]);
});

test("words of a component's own are noticed wherever they may stand", () => {
  expect(shown(`<p>Hello</p>`)).toEqual(["Hello"]);
  expect(shown(`<button aria-label="Close" class="main">{a ? "Yes" : say("app.no")}</button>`)).toEqual(["Close", "Yes"]);
  expect(shown("<p title={`${n} files`}>{n || \"none\"}</p>")).toEqual(["files", "none"]);
  expect(shown(`{#if a}<i>{say("app.no")}</i>{:else}<b>No</b>{/if}`)).toEqual(["No"]);
  expect(shown(`<code>sibyl open</code><p class="warn" id="a">{say("app.no")} · {n}</p>`)).toEqual([]);
});

/** Small words of English, which no sentence of it does without for long, and no other language of the page has. */
const english = /(?<![\p{L}’'])(the|of|and|with|your|is|are|this|that|it|not|from|have|has|were|by|on|you|what|which)(?![\p{L}’'])/iu;
/** What is a command, an address or a name is the same in each language; so is what is put in. */
const named = /[‘“„»][^’”“«]*[’”“«]|\{(\w+)\}|https?:\S+/g;
const bare = (text: string) => text.replace(/\{\w+:([^{}|]*)\|([^{}|]*)\}/g, " $1 $2 ").replace(named, " ");

const others = Object.keys(languages).slice(1);

test("no words of another language are English", () => {
  const own = Object.entries(words).map(([key, all]): [string, readonly string[]] => [key, all.slice(1)]);
  const ofServer: [string, readonly string[]][] = Object.entries(sentences.de).map(([code, german]) => [code, [german, (sentences.pt as Record<string, string>)[code]!]]);
  const wrong = [...own, ...ofServer].flatMap(([key, all]) => others.flatMap((language, at) => (english.test(bare(all[at]!)) ? [`${language}: ${key}: ${all[at]}`] : [])));
  expect(others.length).toBe(2);
  expect(wrong).toEqual([]);
});

test("sentences are not the same in two languages", () => {
  const many = (text: string) => (bare(text).match(/\p{L}{2,}/gu) ?? []).length > 2;
  for (const [key, all] of Object.entries(words)) {
    if (many(all[0]!)) expect(new Set(all).size, key).toBe(all.length);
  }
});
