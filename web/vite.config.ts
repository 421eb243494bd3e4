import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vitest/config";

// The names of files are fixed: dist is committed, and a name with a hash in it would leave a file behind with each change.
export default defineConfig({
  plugins: [svelte()],
  build: {
    target: "es2022",
    modulePreload: false,
    assetsInlineLimit: 0,
    rolldownOptions: {
      output: { codeSplitting: false, entryFileNames: "app.js", assetFileNames: "app[extname]" },
    },
  },
  server: { host: "127.0.0.1", proxy: { "/api": "http://127.0.0.1:7333", "/openapi.json": "http://127.0.0.1:7333" } },
  test: { environment: "node", include: ["src/**/*.test.ts"] },
});
