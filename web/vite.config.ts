import { svelte } from "@sveltejs/vite-plugin-svelte";
import { type Plugin, runnerImport } from "vite";
import { defineConfig } from "vitest/config";

type Words = Record<"first" | "later", Record<string, readonly string[]>> & { languages: object; sentences: Record<string, object> };

/**
 * Gives each language two files, virtual:words/first/LANGUAGE and virtual:words/later/LANGUAGE, and a module that fetches them: words are written
 * side by side, and a browser fetches those of one language.
 */
function wordsByLanguage(): Plugin {
  const address = /^virtual:words(?:\/(first|later)\/(\w+))?$/;
  const column = (all: Record<string, readonly string[]>, at: number) => JSON.stringify(Object.fromEntries(Object.entries(all).map(([key, texts]) => [key, texts[at]])));
  return {
    name: "words-by-language",
    resolveId: (id) => (address.test(id) ? id : undefined),
    async load(id) {
      const [asked, which, language] = address.exec(id) ?? [];
      if (!asked) return undefined;
      const { module, dependencies } = await runnerImport<Words>("./src/words/index.ts");
      for (const file of dependencies) this.addWatchFile(file);
      const languages = Object.keys(module.languages);
      if (!which) {
        const files = (name: string) => languages.map((one) => `${one}: () => import("virtual:words/${name}/${one}")`).join();
        return `export const files = { ${["first", "later"].map((name) => `${name}: { ${files(name)} }`).join()} };`;
      }
      const at = languages.indexOf(language!);
      const words = `export const words = ${column(module[which as "first" | "later"], at)};`;
      return which === "first" ? words : `${words}\nexport const sentences = ${JSON.stringify(module.sentences[language!])};`;
    },
  };
}

// The name of a file holds the hash of what is in it: a browser keeps it for good. Only index.html is asked for each time.
export default defineConfig({
  plugins: [svelte(), wordsByLanguage()],
  build: {
    target: "es2022",
    cssTarget: ["chrome123", "firefox120", "safari17.5"], // which know light-dark()
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    // What a conversation needs is one file with all that it imports: it packs best so, and other views find it loaded.
    rolldownOptions: { output: { codeSplitting: { groups: [{ name: "conversation", test: /\/views\/Conversation\.svelte$/ }] } } },
    manifest: true, // for the test that adds up what a conversation loads; it is not served
  },
  server: { host: "127.0.0.1", proxy: { "/api": "http://127.0.0.1:7333", "/openapi.json": "http://127.0.0.1:7333" } },
  // The deadline is for a test that hangs: on a machine that does much else, the first import alone takes seconds.
  test: { environment: "node", include: ["src/**/*.test.ts"], testTimeout: 60_000, hookTimeout: 60_000 },
});
