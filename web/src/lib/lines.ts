import { structuredPatch } from "diff";

/** A line that stands in one of two texts alone, or in both. */
export interface Changed {
  how: "same" | "added" | "gone";
  text: string;
}

/** How many lines may differ, at most: where more do, all is told as gone and added. */
const most = 4000;

const signs = { " ": "same", "+": "added", "-": "gone" } as const;
const told = (how: Changed["how"], text: string) => text.split("\n").map((line): Changed => ({ how, text: line }));

/** What a text has become, line by line, with some lines around each change; an empty list says that nothing changed. */
export function changes(before: string, after: string, around = 2): Changed[] {
  const patch = structuredPatch("", "", before + "\n", after + "\n", "", "", { context: around, maxEditLength: most });
  if (!patch) return [...told("gone", before), ...told("added", after)];
  return patch.hunks.flatMap((part) => part.lines.map((line): Changed => ({ how: signs[line[0] as keyof typeof signs], text: line.slice(1) })));
}
