/** Words of the page by language: vite makes two files of what stands in this folder for each (vite.config.ts). */
declare module "virtual:words" {
  type Words = Readonly<Record<string, string>>;
  /** Those that come later have the server's sentences by their codes, too. */
  type File = () => Promise<{ words: Words; sentences?: Words }>;
  type Language = keyof typeof import("../lib/languages").languages;
  export const files: Record<"first" | "later", Record<Language, File>>;
}
