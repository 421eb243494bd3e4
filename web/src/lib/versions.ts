/** Something that may take the place of what was before it. */
interface Replacing {
  id: string;
  replaces?: string;
}

/** Puts those that took each other's place together, the one in force last. What comes first may take the place of one that is not there. */
export function versionsOf<R extends Replacing>(rows: readonly R[]): R[][] {
  const all: R[][] = [];
  for (const row of rows) {
    const before = all.at(-1);
    if (row.replaces && before?.at(-1)?.id === row.replaces) before.push(row);
    else all.push([row]);
  }
  return all;
}
