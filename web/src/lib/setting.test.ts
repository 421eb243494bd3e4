import { expect, test } from "vitest";
import { inField, named, ofField } from "./setting";

test.each([
  ["line", "30", { text: "30" }],
  ["text", "first\n\nsecond", { text: "first\n\nsecond" }],
  ["list", "example.org\n docs.example.org ", { list: ["example.org", "docs.example.org"] }],
  ["names", "code: /srv/code\nada/notes:/home/ada: notes", { names: { code: "/srv/code", "ada/notes": "/home/ada: notes" } }],
  ["names", "code: C:\\code", { names: { code: "C:\\code" } }], // a path of Windows has a colon
  ["names", "code", { names: { code: "" } }], // which the server refuses
] as const)("a field of the form %s is read as it is shown: %s", (form, text, value) => {
  expect(ofField(form, text)).toEqual(value);
  expect(ofField(form, inField(value as never))).toEqual(value);
});

test("an empty field takes the setting out, and what is not set is shown empty", () => {
  for (const form of ["line", "text", "list", "names", "model", "choice"] as const) expect(ofField(form, " \n ")).toBeUndefined();
  expect(inField({})).toBe("");
});

test("a setting of a provider has the words of all", () => {
  expect(named("providers.work.base_url")).toEqual({ provider: "work", words: "setup.of.provider.base_url" });
  expect(named("web.engine")).toEqual({ provider: "", words: "setup.of.web.engine" });
});
