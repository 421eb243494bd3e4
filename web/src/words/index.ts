import { common } from "./common";
import { inquiry } from "./inquiry";
import { operation } from "./operation";
import { talk } from "./talk";

/** All words of the page. Each view has a file of its own, whose keys begin with its name. */
export const words = { ...common, ...inquiry, ...operation, ...talk };
export type Key = keyof typeof words;
