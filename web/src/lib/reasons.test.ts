import { expect, test } from "vitest";
import description from "../../../docs/openapi.json";
import { reasons } from "../words/reasons";
import { reasonIn, rules } from "./reasons";

const all: string[] = description.components.schemas.Event.properties.data["x-reasons"];
const values = (text: string) => [...text.matchAll(/\{\d\}/g)].map(([value]) => value).sort();

test("each sentence of the server that says why is there in each language, with its values", () => {
  expect(reasons.map(([english]) => english).sort()).toEqual([...all].sort());
  for (const [english, ...others] of reasons) for (const words of others) expect(values(words), english).toEqual(values(english));
});

test("what the server says is told in the language of the page, and what it does not know as it is", () => {
  expect(reasonIn(1, "it calls tools")).toBe("sie ruft Werkzeuge auf");
  expect(reasonIn(2, "3 times “I need {0} more”")).toBe("3 vezes “I need {0} more”");
  expect(reasonIn(1, "text from strangers was read in this run, so it is not called")).toBe("in diesem Lauf wurde Text von Fremden gelesen, darum wird es nicht aufgerufen");
  expect(reasonIn(1, "nothing private was read; denied, possibly in transit")).toBe("es wurde nichts Privates gelesen; abgewiesen, vielleicht unterwegs");
  expect(reasonIn(0, "private text was read in this run, and the query may be a code: “a”")).toBe("private text was read in this run, and the query may be a code: “a”");
  for (const own of ["I can't find it.", "", "WWW ".repeat(100_000), "too many cooks"]) expect(reasonIn(1, own)).toBe(own);
});

test("each rule stands for a sentence of the server", () => {
  for (const sentence of Object.values(rules)) expect(all).toContain(sentence);
});
