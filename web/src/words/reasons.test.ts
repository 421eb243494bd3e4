import { expect, test } from "vitest";
import description from "../../../docs/openapi.json";
import { reasonIn, reasons } from "./reasons";

const all: Record<string, string> = description.components.schemas.Event.properties.data["x-reasons"];
const values = (text: string) => [...text.matchAll(/\{\w+\}/g)].map(([value]) => value).sort();

test("each sentence of the server that says why is there in each language, with its values", () => {
  expect(Object.keys(reasons).sort()).toEqual(Object.keys(all).sort());
  for (const [code, inLanguages] of Object.entries(reasons)) for (const words of inLanguages) expect(values(words!), code).toEqual(values(all[code]!));
});

test("a reason is told in the language of the page, also where it stands in another, and without a code as it is", () => {
  expect(reasonIn(1, { why: "it calls tools", why_code: "reply.asks_tools" })).toBe("sie ruft Werkzeuge auf");
  expect(reasonIn(0, { why: "it calls tools", why_code: "reply.asks_tools" })).toBe("it calls tools");
  const times = { why: "3 times “more {times}”", why_code: "signal.same", why_values: { times: { why: "3" }, reason: { why: "more {times}" } } };
  expect(reasonIn(2, times)).toBe("3 vezes “more {times}”");
  const held = { why: "text from strangers was read in this run", why_code: "held.strangers" };
  expect(reasonIn(1, { why: "…", why_code: "call.nobody_asked", why_values: { why: held } })).toBe("in diesem Lauf wurde Text von Fremden gelesen, darum wird es nicht aufgerufen");
  for (const own of [{ why: "I can't find it." }, { why: "new", why_code: "of.a.later.server" }]) expect(reasonIn(1, own)).toBe(own.why);
  expect(reasonIn(1, {})).toBe("");
  expect(reasonIn(0, { why: "No folder of notes is set: name one with --vault.", why_code: "notice.no_vault" })).toBe("No folder of notes is chosen, so none was searched.");
});
