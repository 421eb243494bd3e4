import { expect, test } from "vitest";
import { words } from ".";

test("each key has words in three languages, with the same values put in", () => {
  for (const [key, all] of Object.entries(words)) {
    expect(all.length, key).toBe(3);
    const put = all.map((text) => [...text.matchAll(/\{\w+\}/g)].map(String).sort().join());
    expect(new Set(put).size, key).toBe(1);
    for (const text of all) expect(text.trim(), key).not.toBe("");
  }
});
