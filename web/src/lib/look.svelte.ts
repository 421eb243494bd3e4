import { keep, kept } from "./kept";

export const colours = ["auto", "light", "dark"] as const;
export type Colours = (typeof colours)[number];

let chosen = $state<Colours>(colours.find((c) => c === kept("colours")) ?? "auto");
show();

export const look = () => chosen;

export function choose(wanted: Colours) {
  chosen = wanted;
  keep("colours", wanted);
  show();
}

function show() {
  document.documentElement.dataset.colours = chosen;
}

const touched = globalThis.matchMedia?.("(pointer: coarse)").matches ?? false;
let enter = $state(kept("enter") || (touched ? "line" : "send"));

/** Whether Enter begins a line, and Shift+Enter sends; otherwise it is the other way round. Keyboards on a screen have a line for Enter. */
export const enterIsLine = () => enter === "line";

/** Whether a key sends what is written. Ctrl+Enter does so in any case. */
export const sends = (e: KeyboardEvent) => e.key === "Enter" && !e.isComposing && (e.ctrlKey || e.metaKey || e.shiftKey === enterIsLine());

export function chooseEnter(wanted: string) {
  enter = wanted;
  keep("enter", wanted);
}

/** Whether to put the keyboard where one writes: on a screen that is touched, that would cover half of the page, and it is left in a field. */
export const mayFocus = () => !touched && !document.activeElement?.matches("input, textarea, select, [data-task] *");
