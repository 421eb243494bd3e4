/** A line that stands in one of two texts alone, or in both. */
export interface Changed {
  how: "same" | "added" | "gone";
  text: string;
}

/** How many pairs of lines are compared, at most: where more differ between what begins and ends alike, all of it is told as gone and added. */
const mostPairs = 4_000_000;

/** What a text has become, line by line, with some lines around each change; an empty list says that nothing changed. */
export function changes(before: string, after: string, around = 2): Changed[] {
  const a = before.split("\n");
  const b = after.split("\n");
  let begin = 0; // lines that both begin with
  while (begin < a.length && begin < b.length && a[begin] === b[begin]) begin++;
  let [i, j] = [a.length, b.length]; // behind them, up to the lines that both end with
  while (i > begin && j > begin && a[i - 1] === b[j - 1]) i--, j--;
  const same = told("same", b);
  const differs = between(a.slice(begin, i), b.slice(begin, j));
  return near([...same.slice(Math.max(0, begin - around), begin), ...differs, ...same.slice(j, j + around)], around);
}

const told = (how: Changed["how"], lines: readonly string[]) => lines.map((text): Changed => ({ how, text }));

/** What differs of some lines. */
function between(a: string[], b: string[]): Changed[] {
  const [gone, added] = [told("gone", a), told("added", b)];
  if (a.length * b.length > mostPairs) return gone.concat(added);
  const wide = b.length + 1;
  const common = new Uint16Array((a.length + 1) * wide); // the longest that two ends have in common; at most 2,000, as the pairs are bounded
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--) {
      const [down, along] = [common[(i + 1) * wide + j]!, common[i * wide + j + 1]!];
      common[i * wide + j] = a[i] === b[j] ? common[(i + 1) * wide + j + 1]! + 1 : Math.max(down, along);
    }
  const all: Changed[] = [];
  for (let i = 0, j = 0; i < a.length || j < b.length; ) {
    if (i < a.length && j < b.length && a[i] === b[j]) all.push({ how: "same", text: b[j++]! }), i++;
    else if (j >= b.length || (i < a.length && common[(i + 1) * wide + j]! >= common[i * wide + j + 1]!)) all.push(gone[i++]!);
    else all.push(added[j++]!);
  }
  return all;
}

/** The lines that changed, with some around each. */
function near(all: Changed[], around: number): Changed[] {
  const keep = new Set<number>();
  all.forEach((line, at) => {
    if (line.how !== "same") for (let by = -around; by <= around; by++) keep.add(at + by);
  });
  return all.filter((_, at) => keep.has(at));
}
