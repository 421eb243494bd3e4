import type { Form } from "./api";
import type { Why } from "./sentence";

/** What was checked of an answer. */
export interface Checked {
  /** What it cites, each source once. */
  places: { number: number; text: string; read: boolean }[];
  /** What else it lacks: that a place was not read is told by the place. */
  lacks: Why[];
}

export function checkedOf({ citations = [], warnings, warning_codes = [] }: Pick<Form<"Result">, "citations" | "warnings" | "warning_codes">): Checked {
  const places = new Map<number, Checked["places"][number]>();
  for (const one of citations) if (!places.has(one.number)) places.set(one.number, one);
  const toldByPlaces = (n: number) => warning_codes[n]?.why_code === "answer.cited_unread" && places.size > 0;
  return { places: [...places.values()], lacks: warnings.flatMap((why, n) => (toldByPlaces(n) ? [] : [{ why, ...warning_codes[n] } as Why])) };
}
