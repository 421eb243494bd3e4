import { expect, test } from "vitest";
import { first, words } from ".";

const sources = import.meta.glob<string>("/src/**/*.{svelte,ts}", { query: "?raw", import: "default", eager: true });

/** The files that a file imports to begin with or shows later, and theirs, apart from the words. */
function importedBy(file: string, all = new Set<string>()): Set<string> {
  if (all.has(file) || file.includes("/words/")) return all;
  all.add(file);
  for (const [, path] of sources[file]!.matchAll(/(?:^\s*import (?!type )[^;]*? from |<Later file=\{\(\) => import\()"(\.[^"]+)"/gm)) {
    const at = new URL(path!, "file://" + file).pathname;
    for (const name of [at, at + ".ts"]) if (name in sources) importedBy(name, all);
  }
  return all;
}

test("what conversations and tasks say is there before anything is shown", () => {
  const files = new Set(["App.svelte", "views/Conversations.svelte", "views/tasks/Tasks.svelte"].flatMap((name) => [...importedBy("/src/" + name)]));
  expect(files.size).toBeGreaterThan(30);
  let seen = 0;
  for (const file of files) {
    for (const [, key] of sources[file]!.matchAll(/["`]([a-z_]+\.[\w.-]*)(?=["`]|\$\{)/g)) {
      if (!Object.keys(words).some((one) => one.startsWith(key!))) continue;
      if (file.endsWith("/Rail.svelte") && key!.startsWith("council.")) continue; // that is the Council's rail as well, which comes with its words
      seen++;
      expect(Object.keys(first).some((one) => one.startsWith(key!)), `${file}: ${key}`).toBe(true);
    }
  }
  expect(seen).toBeGreaterThan(100);
});
