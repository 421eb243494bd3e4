import { expect, test } from "vitest";
import { blockEnd } from "./blocks";

function blocksOf(html: string): string[] {
  const all: string[] = [];
  for (let at = 0; at < html.length; ) {
    const end = blockEnd(html, at);
    all.push(html.slice(at, end));
    at = end;
  }
  return all;
}

test("HTML is cut where a block of the first level ends, whatever is in it", () => {
  const blocks = [
    "<h3>Head &lt;p&gt;</h3>\n",
    '<ul>\n<li>\n<p>one<br>\ntwo <a href="https://e.example/?a=1&amp;b=%3E" target="_blank">x</a></p>\n<hr>\n</li>\n</ul>\n',
    "<hr>\n",
    "<pre><code>a &lt;/pre&gt;\n\nb\n</code></pre>\n",
    "<blockquote>\n<p>c</p>\n</blockquote>\n",
  ];
  expect(blocksOf(blocks.join(""))).toEqual(blocks);
});

test("what is not closed, and text alone, go to the end", () => {
  expect(blocksOf("<p>a</p><p>b")).toEqual(["<p>a</p>", "<p>b"]);
  expect(blocksOf("words")).toEqual(["words"]);
  expect(blocksOf("")).toEqual([]);
});
