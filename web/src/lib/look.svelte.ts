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
