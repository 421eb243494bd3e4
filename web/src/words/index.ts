import { common } from "./common";
import { council } from "./council";
import { find } from "./find";
import { inquiry } from "./inquiry";
import { operation } from "./operation";
import { runs } from "./runs";
import { talk } from "./talk";
import { tasks } from "./tasks";
import { told } from "./told";
import { why } from "./why";

/** All words of the page. Each view has a file of its own, whose keys begin with its name. */
export const words = { ...common, ...talk, ...why, ...tasks, ...council, ...inquiry, ...operation, ...runs, ...find, ...told };
export type Key = keyof typeof words;
