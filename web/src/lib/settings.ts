import type { Form } from "./api";

type Setting = Form<"TreeSetting">;

/** Settings of a tree that are one to a person: of the same name and value, or given by the same key. */
export interface Field {
  key: string;
  /** The first of them, which is as the others are. */
  first: Setting;
  all: Setting[];
}

/** The fields for some settings, in their order. */
export function fieldsOf(settings: readonly Setting[]): Field[] {
  const fields = new Map<string, Field>();
  for (const s of settings) {
    const key = `${s.port} ${s.value} ${s.one_of.join()}`;
    const one = fields.get(key) ?? { key, first: s, all: [] };
    one.all.push(s);
    fields.set(key, one);
  }
  return [...fields.values()];
}

/** The text of a tree with other values in some fields, by their keys. What can't stand in an attribute is left out. */
export function written(text: string, fields: readonly Field[], values: Readonly<Record<string, string>>): string {
  const bytes = new TextEncoder().encode(text);
  const decode = (from: number, to: number) => new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes.subarray(from, to));
  const changed = fields
    .flatMap((f) => f.all.map((setting) => ({ setting, value: values[f.key] ?? f.first.value })))
    .filter(({ setting, value }) => value !== setting.value && value !== "")
    .sort((a, b) => a.setting.from - b.setting.from);
  let out = "";
  let at = 0;
  for (const { setting: s, value } of changed) {
    const plain = value.replace(/[<>&"']/g, "");
    out += decode(at, s.from) + (s.absent ? ` ${s.port}="${plain}"` : plain);
    at = s.to;
  }
  return out + decode(at, bytes.length);
}
