import { expect, test } from "vitest";
import description from "../../../docs/openapi.json";
import { valuesOf } from "../lib/fill";
import { reasonIn, reasons as ofDecisions } from "./reasons";
import { story } from "./story";

const reasons = { ...ofDecisions, ...story };

const all: Record<string, string> = description.components.schemas.Event.properties.data["x-reasons"];
/** The sentences of a language of the page, 0 being English. */
const sentences = (language: number) => Object.fromEntries(Object.entries(reasons).flatMap(([code, words]) => (words[(language + 2) % 3] === undefined ? [] : [[code, words[(language + 2) % 3]!]])));

test("each sentence of the server that says why is there in each language, with its values", () => {
  expect(Object.keys(reasons).sort()).toEqual(Object.keys(all).sort());
  for (const [code, inLanguages] of Object.entries(reasons)) for (const words of inLanguages) expect(valuesOf(words!), code).toEqual(valuesOf(all[code]!));
});

test("a reason is told in the language of the page, also where it stands in another, and without a code as it is", () => {
  expect(reasonIn(sentences(1), { why: "it calls tools", why_code: "reply.asks_tools" })).toBe("sie ruft Werkzeuge auf");
  expect(reasonIn(sentences(0), { why: "it calls tools", why_code: "reply.asks_tools" })).toBe("it calls tools");
  const times = { why: "3 times “more {times}”", why_code: "signal.same", why_values: { times: { why: "3" }, reason: { why: "more {times}" } } };
  expect(reasonIn(sentences(2), times)).toBe("3 vezes “more {times}”");
  const held = { why: "text from strangers was read in this run", why_code: "held.strangers" };
  expect(reasonIn(sentences(1), { why: "…", why_code: "call.nobody_asked", why_values: { why: held } })).toBe("in diesem Lauf wurde Text von Fremden gelesen, darum wird es nicht aufgerufen");
  for (const own of [{ why: "I can't find it." }, { why: "new", why_code: "of.a.later.server" }]) expect(reasonIn(sentences(1), own)).toBe(own.why);
  expect(reasonIn(sentences(1), {})).toBe("");
  expect(reasonIn(sentences(0), { why: "No folder of notes is set: name one with --vault.", why_code: "notice.no_vault" })).toBe("No folder of notes is chosen, so none was searched.");
});
