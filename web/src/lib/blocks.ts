const tag = /<(\/?)(\w+)[^>]*>\n?/g;
const alone = ["br", "hr"];

/** Where the block ends that begins at a place of HTML that the server made of Markdown: no text and no attribute of it has "<" or ">". */
export function blockEnd(html: string, from: number): number {
  let depth = 0;
  for (const found of html.slice(from).matchAll(tag)) {
    if (found[1]) depth--;
    else if (!alone.includes(found[2]!)) depth++;
    if (depth <= 0) return from + found.index + found[0].length;
  }
  return html.length;
}
