const heads = [
  "M16 1a15 15 0 1 1 0 30a15 15 0 1 1 0-30Z",
  "M8 1h16a7 7 0 0 1 7 7v16a7 7 0 0 1-7 7H8a7 7 0 0 1-7-7V8a7 7 0 0 1 7-7Z",
  "M16 1L30 9v14L16 31L2 23V9Z",
  "M16 1c9 0 15 7 13 16s-7 14-13 14S5 26 3 17S7 1 16 1Z",
];
const brows = ["M4 9q12-11 24 0q-12-3-24 0Z", "M3 8L16 2l13 6l-13 3Z", "M5 7h22v3H5Z", "M16 2l4 8h-8Z", "M4 10L9 3l7 4l7-4l5 7Z"];
const eyes = ["M11 15v1M21 15v1", "M9 16h4M19 16h4", "M9 16q2-3 4 0M19 16q2-3 4 0", "M9 14l4 2M23 14l-4 2", "M9 15a2 2 0 1 0 4 0a2 2 0 1 0-4 0M19 15a2 2 0 1 0 4 0a2 2 0 1 0-4 0"];
const mouths = ["M11 23h10", "M11 22q5 5 10 0", "M11 24q5-4 10 0", "M12 23q2-2 4 0t4 0", "M14 23a2 2 0 1 0 4 0a2 2 0 1 0-4 0", "M12 24l8-2"];

/** Spreads an id over all 32-bit numbers (FNV-1a). */
function spread(id: string): number {
  let n = 0x811c9dc5;
  for (const c of id) n = Math.imul(n ^ c.codePointAt(0)!, 0x01000193) >>> 0;
  return n;
}

/** A face by an id: paths in a square of 32, and a hue in degrees. Equal ids have equal faces. */
export function face(id: string) {
  let n = spread(id);
  const next = (most: number) => {
    const at = n % most;
    n = Math.imul(n ^ (n >>> 15), 0x2c1b3c6d) >>> 0;
    return at;
  };
  return { hue: next(24) * 15, head: heads[next(heads.length)]!, brow: brows[next(brows.length)]!, eyes: eyes[next(eyes.length)]!, mouth: mouths[next(mouths.length)]! };
}
