import { common } from "./common";
import { council } from "./council";
import { find } from "./find";
import { inquiry } from "./inquiry";
import { operation } from "./operation";
import { problems } from "./problems";
import { runs } from "./runs";
import { setup } from "./setup";
import { spent } from "./spent";
import { talk } from "./talk";
import { tasks } from "./tasks";
import { told } from "./told";
import { why } from "./why";
import de from "./sentences/de.json";
import en from "./sentences/en.json";
import pt from "./sentences/pt.json";

export { languages } from "../lib/languages";

/**
 * The server's sentences by their codes, a catalogue for each language: why something was decided, and the lines of stories. English words come
 * from the server, but for those that say what to type on a terminal: the page words these otherwise.
 */
export const sentences = { en, de, pt };

/** What the bar and conversations say. It is fetched before anything is shown; what other views say comes with the first of them. */
export const first = { ...common, ...talk, ...tasks };
export const later = { ...told, ...council, ...find, ...inquiry, ...operation, ...problems, ...runs, ...setup, ...spent, ...why };

/** All words of the page. Each view has a file of its own, whose keys begin with its name. */
export const words = { ...first, ...later };
export type Key = keyof typeof words;
