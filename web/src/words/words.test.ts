import { expect, test } from "vitest";
import { first, words } from ".";
import { fill, valuesOf } from "../lib/fill";

test("each key has words in three languages, with the same values put in", () => {
  for (const [key, all] of Object.entries(words)) {
    expect(all.length, key).toBe(3);
    expect(new Set(all.map((text) => valuesOf(text).join())).size, key).toBe(1);
    for (const text of all) {
      expect(text.trim(), key).not.toBe("");
      expect(fill(text, () => "1"), key).not.toMatch(/[{}]/);
    }
  }
});

test("no key has words in two files, of which one would be said for the other", () => {
  const files = import.meta.glob<Record<string, object>>(["./*.ts", "!./index.ts", "!./*.test.ts", "!./*.d.ts"], { eager: true });
  const keys = Object.values(files).flatMap((file) => Object.values(file).flatMap((of) => Object.keys(of)));
  expect(keys.length).toBeGreaterThanOrEqual(Object.keys(words).length);
  expect(keys.filter((key, i) => keys.indexOf(key) < i)).toEqual([]);
});

test("nothing that a view says has two keys, of its own or of those that each view has", () => {
  const sources = Object.values(import.meta.glob<string>(["/src/**/*.{svelte,ts}", "!/src/words/**", "!/src/**/*.test.ts"], { query: "?raw", import: "default", eager: true })).join("\n");
  const files = import.meta.glob<Record<string, Record<string, readonly string[]>>>(["./*.ts", "!./index.ts", "!./*.test.ts", "!./*.d.ts"], { eager: true });
  const named = Object.values(files).flatMap((file) => Object.values(file).flatMap((of) => Object.entries(of).filter(([key]) => sources.includes(`"${key}"`)).map(([key, texts]) => ({ key, texts: texts.join("\n"), of }))));
  expect(named.length).toBeGreaterThan(300);
  const everywhere = (one: { key: string }) => one.key in first;
  const twice = named.flatMap((one, i) => named.slice(i + 1).filter((two) => two.texts === one.texts && (two.of === one.of || everywhere(one) || everywhere(two))).map((two) => `${one.key} = ${two.key}`));
  expect(twice).toEqual([]);
});

test("words for one and for several stand behind a number", () => {
  const text = "{n} {n:file|files}, {name}";
  const of = (n: string) => fill(text, (name) => (name === "n" ? n : "x"));
  expect([of("1"), of("0"), of("2"), of("1,234")]).toEqual(["1 file, x", "0 files, x", "2 files, x", "1,234 files, x"]);
  expect(valuesOf(text)).toEqual(["n", "name"]);
});
