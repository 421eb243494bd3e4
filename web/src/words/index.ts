import { common } from "./common";
import { council } from "./council";
import { talk } from "./talk";
import { tasks } from "./tasks";

/** All words of the page. Each view has a file of its own, whose keys begin with its name. */
export const words = { ...common, ...talk, ...tasks, ...council };
export type Key = keyof typeof words;
