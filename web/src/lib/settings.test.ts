import { expect, test } from "vitest";
import type { Form } from "./api";
import { fieldsOf, written } from "./settings";

const text = '<!-- naïve --><Budget max_turns="{max_turns}" last_at=\'0.8\'/><Budget/>';
const byte = (part: string) => new TextEncoder().encode(text.slice(0, text.indexOf(part))).length;
const setting = (port: string, value: string, from: number, long: number): Form<"TreeSetting"> => ({ node: 0, port, doc: "", value, one_of: [], whole: false, from, to: from + long, absent: long === 0 });
const fields = fieldsOf([
  setting("max_turns", "30", byte("{max_turns}"), "{max_turns}".length),
  setting("last_at", "0.8", byte("0.8"), 3),
  setting("last_at", "0.8", byte("<Budget/>") + "<Budget".length, 0),
]);

test("settings of one name and value are one field", () => {
  expect(fields.map((f) => [f.first.port, f.all.length])).toEqual([["max_turns", 1], ["last_at", 2]]);
});

test("a value that is changed is written where it stands, or where it is left out, and nowhere else", () => {
  expect(written(text, fields, {})).toBe(text);
  expect(written(text, fields, { [fields[0]!.key]: "1" })).toBe(text.replace("{max_turns}", "1"));
  expect(written(text, fields, { [fields[1]!.key]: "0.5" })).toBe(text.replace("0.8", "0.5").replace("<Budget/>", '<Budget last_at="0.5"/>'));
  expect(written(text, fields, { [fields[0]!.key]: "30", [fields[1]!.key]: "" })).toBe(text);
  expect(written(text, fields, { [fields[0]!.key]: '1"/><x y="' })).toBe(text.replace("{max_turns}", "1/x y="));
});
