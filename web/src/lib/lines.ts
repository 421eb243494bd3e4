/** A line that stands in one of two texts alone, or in both, with its number in the later text, or in the earlier one if it went. */
export interface Changed {
  how: "same" | "added" | "gone";
  text: string;
  number: number;
}

/** How many lines of each text are compared; what is longer is compared up to there. */
const most = 3000;

/** What a text has become, line by line, with some lines around each change; an empty list says that nothing changed. */
export function changes(before: string, after: string, around = 2): Changed[] {
  const a = before.split("\n").slice(0, most);
  const b = after.split("\n").slice(0, most);
  const wide = b.length + 1;
  const common = new Uint16Array((a.length + 1) * wide); // the longest that two ends have in common
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--) common[i * wide + j] = a[i] === b[j] ? common[(i + 1) * wide + j + 1]! + 1 : Math.max(common[(i + 1) * wide + j]!, common[i * wide + j + 1]!);
  const all: Changed[] = [];
  for (let i = 0, j = 0; i < a.length || j < b.length; ) {
    if (i < a.length && j < b.length && a[i] === b[j]) all.push({ how: "same", text: b[j]!, number: ++j }), i++;
    else if (j >= b.length || (i < a.length && common[(i + 1) * wide + j]! >= common[i * wide + j + 1]!)) all.push({ how: "gone", text: a[i]!, number: ++i });
    else all.push({ how: "added", text: b[j]!, number: ++j });
  }
  return all.filter((_, at) => all.slice(Math.max(0, at - around), at + around + 1).some((line) => line.how !== "same"));
}
