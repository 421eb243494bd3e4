import { expect, test } from "vitest";
import { sentences, words } from ".";
import description from "../../../docs/openapi.json";
import { valuesOf } from "../lib/fill";
import { isControl, sentenceIn } from "../lib/sentence";

const { Event, Effect } = description.components.schemas;
const all: Record<string, string> = Event.properties.data["x-reasons"];

test("each sentence of the server is in each catalogue, with its values", () => {
  for (const [language, catalogue] of Object.entries(sentences)) {
    if (language === "en") expect(Object.keys(all)).toEqual(expect.arrayContaining(Object.keys(catalogue)));
    else expect(Object.keys(catalogue).sort(), language).toEqual(Object.keys(all).sort());
    for (const [code, text] of Object.entries(catalogue)) expect(valuesOf(text), `${language}: ${code}`).toEqual(valuesOf(all[code]!));
  }
});

test("a sentence is told in the language of the page, also where it stands in another, and without a code as it is", () => {
  expect(sentenceIn(sentences.de, { why: "it calls tools", why_code: "reply.asks_tools" })).toBe("sie ruft Werkzeuge auf");
  expect(sentenceIn(sentences.en, { why: "it calls tools", why_code: "reply.asks_tools" })).toBe("it calls tools");
  const times = { why: "3 times “more {times}”", why_code: "signal.same", why_values: { times: { why: "3" }, reason: { why: "more {times}" } } };
  expect(sentenceIn(sentences.pt, times)).toBe("3 vezes “more {times}”");
  const held = { why: "text from strangers was read in this run", why_code: "held.strangers" };
  expect(sentenceIn(sentences.de, { why: "…", why_code: "call.nobody_asked", why_values: { why: held } })).toBe("in diesem Lauf wurde Text von Fremden gelesen, darum wird es nicht aufgerufen");
  for (const own of [{ why: "I can't find it." }, { why: "new", why_code: "of.a.later.server" }]) expect(sentenceIn(sentences.de, own)).toBe(own.why);
  expect(sentenceIn(sentences.de, {})).toBe("");
  expect(sentenceIn(sentences.en, { why: "No folder of notes is set: name one with --vault.", why_code: "notice.no_vault" })).toBe("No folder of notes is chosen, so none was searched.");
});

test("whoever waits is spared how a run is controlled", () => {
  expect([{ why_code: "control.noted" }, { why_code: "story.wrote" }, { why: "in nobody's catalogue" }].map(isControl)).toEqual([true, false, false]);
});

test("each kind of effect has words", () => {
  for (const kind of Effect.properties.kind.examples) expect(words, kind).toHaveProperty([`effect.${kind}`]);
});
