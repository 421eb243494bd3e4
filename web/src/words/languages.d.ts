/** Words of the page by language: vite makes three files of what stands in this folder for each (vite.config.ts). Any of them may hold either. */
declare module "virtual:words" {
  type Words = Readonly<Record<string, string>>;
  /** The server's sentences by their codes are reasons; in English those that the page words otherwise. */
  type File = () => Promise<{ words?: Words; reasons?: Words }>;
  type Language = keyof typeof import("../lib/languages").languages;
  /** They are fetched apart. */
  export const files: Record<"first" | "later" | "reasons", Record<Language, File>>;
}
