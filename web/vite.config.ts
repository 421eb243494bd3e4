import { svelte } from "@sveltejs/vite-plugin-svelte";
import { type Plugin, runnerImport } from "vite";
import { defineConfig } from "vitest/config";

type Words = Record<"first" | "later" | "reasons" | "story", Record<string, readonly string[]>> & { languages: object };

/**
 * Gives each language two files of its own, virtual:words/first/LANGUAGE and virtual:words/later/LANGUAGE: words are written side by side,
 * and a browser fetches those of one language.
 */
function wordsByLanguage(): Plugin {
  const address = /^virtual:words\/(first|later)\/(\w+)$/;
  const column = (all: Record<string, readonly string[]>, at: number) => JSON.stringify(Object.fromEntries(Object.entries(all).map(([key, texts]) => [key, texts[at]])));
  return {
    name: "words-by-language",
    resolveId: (id) => (address.test(id) ? id : undefined),
    async load(id) {
      const [, which, language] = address.exec(id) ?? [];
      if (!which) return undefined;
      const { module, dependencies } = await runnerImport<Words>("./src/words/index.ts");
      for (const file of dependencies) this.addWatchFile(file);
      const at = Object.keys(module.languages).indexOf(language!);
      const [words, reasons] = which === "later" ? [module.later, module.story] : [module.first, module.reasons];
      return `export const words = ${column(words, at)};\nexport const reasons = ${column(reasons, (at + 2) % 3)};`;
    },
  };
}

// What several views share is one file, but for what conversations don't show.
const groups = [
  { name: "page", test: /src\/page\.css/ },
  { name: "shared", test: /src\/(lib|parts)\/(?!bars|Chart)/, minShareCount: 2 },
];

/** Has the styles of the page come before those of its parts, which prevail. */
const pageFirst: Plugin = {
  name: "page-first",
  transformIndexHtml: { order: "post", handler: (html) => html.replace(/( *<link rel="stylesheet".*?)( *<link rel="stylesheet"[^>]*\/page-[^>]*>\n)/s, "$2$1") },
};

// The name of a file holds the hash of what is in it: a browser keeps it for good. Only index.html is asked for each time.
export default defineConfig({
  plugins: [svelte(), wordsByLanguage(), pageFirst],
  build: {
    target: "es2022",
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    manifest: true, // for the test that adds up what a conversation loads; it is not served
    rolldownOptions: { output: { codeSplitting: { groups } } },
  },
  server: { host: "127.0.0.1", proxy: { "/api": "http://127.0.0.1:7333", "/openapi.json": "http://127.0.0.1:7333" } },
  test: { environment: "node", include: ["src/**/*.test.ts"] },
});
