import { common } from "./common";
import { talk } from "./talk";
import { why } from "./why";

/** All words of the page. Each view has a file of its own, whose keys begin with its name. */
export const words = { ...common, ...talk, ...why };
export type Key = keyof typeof words;
