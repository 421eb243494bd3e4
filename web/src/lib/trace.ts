import type { Form } from "./api";

type Event = Pick<Form<"Event">, "type" | "data" | "key" | "value" | "reason">;

/** An event as it is kept: its type and fields, or a key with its value, or the reason of the node. */
export function traceOf(e: Event): string {
  if (e.type) return [e.type, ...fieldsOf(e.data)].join(" ");
  return e.key ? `${e.key} := ${e.value ?? ""}` : (e.reason ?? "");
}

/** The fields, as name=value: a text of one word is bare, all else is JSON. The values of a sentence are left out, since they stand in it. */
function fieldsOf(data: unknown): string[] {
  const all = Object.entries((data ?? {}) as Record<string, unknown>).filter(([name]) => name !== "why_values");
  return all.map(([name, value]) => `${name}=${typeof value === "string" && /^[^\s"\\=]+$/.test(value) ? value : JSON.stringify(value)}`);
}
