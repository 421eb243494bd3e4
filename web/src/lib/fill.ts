/** Where a value stands in a text: {n}; or words for one and for several of it: {n:file|files}. */
const place = /\{(\w+)(?::([^{}|]*)\|([^{}|]*))?\}/g;

/** Puts values in their places in a text. `isOne` says whether a number is told as one. */
export function fill(text: string, value: (name: string) => string, isOne: (n: number) => boolean = (n) => n === 1): string {
  return text.replace(place, (_, name: string, single?: string, several?: string) => {
    if (single === undefined) return value(name);
    return isOne(Number(value(name))) ? single : several!;
  });
}

/** The names of the values that are put in a text. */
export const valuesOf = (text: string): string[] => [...new Set([...text.matchAll(place)].map(([, name]) => name!))].sort();
