/** Words of the page in one language: vite makes three files for each of what stands in this folder (vite.config.ts). */
declare module "virtual:words/first/*" {
  import type { first } from "./index";
  export const words: Record<keyof typeof first, string>;
}
declare module "virtual:words/later/*" {
  import type { later } from "./index";
  export const words: Record<keyof typeof later, string>;
  /** The lines of stories by their codes; none in English. */
  export const reasons: Record<string, string>;
}
declare module "virtual:words/reasons/*" {
  /** The server's sentences by their codes; in English those that the page words otherwise. */
  export const reasons: Record<string, string>;
}
