import { expect, test } from "vitest";
import description from "../../../docs/openapi.json";
import { words, type Key } from "../words";
import { fill } from "./fill";
import { Teller, tellers, type Say } from "./told";

const { Event, Effect } = description.components.schemas;
const fields: Record<string, string[]> = Event.properties.data["x-fields-by-type"];
const kinds: string[] = Effect.properties.kind.examples;

function teller(language: number): Teller {
  const say: Say = (key: Key, values = {}) => {
    expect(words[key], key).toBeDefined();
    return fill(words[key][language]!, (name) => {
      expect(values[name], `${key}: ${name}`).toBeDefined();
      return String(values[name]);
    });
  };
  return new Teller(say, (key, text) => (key in words ? words[key as Key][language]! : text));
}

/** Fields of an event that are asked for, each with something in it. */
function asked(all: Set<string>, fill: (name: string) => unknown) {
  return new Proxy({} as Record<string, unknown>, {
    get(_, name) {
      if (typeof name !== "string") return undefined;
      all.add(name);
      return fill(name);
    },
  });
}

const lists: Record<string, unknown> = { used: [{ kind: "turns", used: 1, limit: 2 }], alternatives: [{ name: "create", confidence: 0.5 }], entities: {} };
const plural = ["keywords", "offered", "withheld", "added", "tasks", "options", "flags", "unread", "notes"];
const full = (name: string) => lists[name] ?? (plural.includes(name) ? ["one"] : 1);
const sparse = (name: string) => (lists[name] || plural.includes(name) ? undefined : ["text", "why", "reason", "tool", "oracle"].includes(name) ? "x" : 0);

test("each type of event of all assistants is told in words of the page, by fields that it has", () => {
  expect(Object.keys(tellers).sort()).toEqual(Object.keys(fields).sort());
  for (const [type, tell] of Object.entries(tellers))
    for (const language of [0, 1, 2])
      for (const fill of [full, sparse]) {
        const all = new Set<string>();
        const text = tell(asked(all, fill), teller(language)).filter(Boolean).join("; ");
        expect(text, type).not.toMatch(/undefined|\[object|\{\w+\}/);
        expect(text, type).not.toBe("");
        for (const name of all) expect(fields[type], `${type} has no ${name}`).toContain(name);
      }
});

test("each kind of effect has words", () => {
  for (const kind of kinds) expect(words, kind).toHaveProperty([`effect.${kind}`]);
  expect(teller(1).effect("model.turn", "turn 2 of 30")).toBe("Runde 2 von 30 des Modells");
  expect(teller(1).effect("inquiry.answer", "the answer")).toBe("the answer");
  expect(teller(1).effect("new.kind", "something")).toBe("something");
});

test("what the page does not know is told as the server tells it", () => {
  expect(teller(1).event({ type: "new.event", data: {}, words: "something happened" })).toBe("something happened");
  expect(teller(1).event({ words: "x := 3" })).toBe("x := 3");
  expect(teller(1).labels("own private")).toBe("Dateien der Person, privat");
  expect(teller(0).labels("stranger, public")).toBe("words of strangers, not private");
  expect(teller(0).labels(undefined)).toBe("the person’s own words, not private");
  expect(teller(0).labels("of the moon")).toBe("of the moon");
  expect(teller(0).took({ kind: "new" }, "something else")).toBe("something else");
  expect(teller(1).took({ kind: "completion", effect: "tool.call", label: "read_file a.go", failure: "gone" }, "")).toBe("Aufruf: read_file a.go: fehlgeschlagen: gone");
});
