import { common } from "./common";
import { council } from "./council";
import { find } from "./find";
import { inquiry } from "./inquiry";
import { operation } from "./operation";
import { problems } from "./problems";
import { runs } from "./runs";
import { talk } from "./talk";
import { tasks } from "./tasks";
import { told } from "./told";
import { why } from "./why";

export { languages } from "../lib/languages";
export { reasons } from "./reasons";
export { story } from "./story";

/** What the bar and conversations say. It is fetched before anything is shown; what other views say comes with the first of them. */
export const first = { ...common, ...talk, ...tasks };
export const later = { ...told, ...council, ...find, ...inquiry, ...operation, ...problems, ...runs, ...why };

/** All words of the page. Each view has a file of its own, whose keys begin with its name. */
export const words = { ...first, ...later };
export type Key = keyof typeof words;
