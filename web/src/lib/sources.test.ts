import { beforeEach, expect, test, vi } from "vitest";
import { Sources } from "./sources.svelte";

let kept: Map<string, string>;
beforeEach(() => {
  kept = new Map();
  vi.stubGlobal("localStorage", {
    getItem: (name: string) => kept.get(name) ?? null,
    setItem: (name: string, value: string) => kept.set(name, value),
    removeItem: (name: string) => kept.delete(name),
  });
});
const begin = () => new Sources(() => ["code", "notes", "papers"]);

test("of a session only what was changed is sent, and none is said as null", () => {
  const sources = begin();
  sources.setUp({ code: "code", vault: "notes/2024", web: true, model: "played:one", files: ["a.pdf"] });
  expect([sources.chosen, sources.options]).toEqual([{ code: "code", vault: "notes/2024", web: "on", model: "played:one", preset: "" }, {}]);
  sources.choose("vault", "");
  sources.choose("code", "papers");
  sources.choose("web", "");
  sources.choose("model", "");
  expect(sources.options).toEqual({ vault: null, code: "papers", web: null, model: null });
  expect(kept.size).toBe(0); // of one conversation it says nothing of the next
});

test("what was sent is the session's from then on, with its files", () => {
  const sources = begin();
  sources.setUp({ code: "code", files: ["a.pdf"] });
  sources.choose("web", "off");
  sources.sent(sources.options, ["b.txt", "a.pdf"]);
  expect([sources.options, sources.chosen.web, sources.chosen.code, sources.files]).toEqual([{}, "off", "code", ["a.pdf", "b.txt"]]);
});

test("what was chosen after a message went out is not taken for sent with it", () => {
  const sources = begin();
  sources.setUp({ code: "code", vault: "notes", model: "played:one" });
  sources.choose("model", "played:two");
  sources.choose("vault", "");
  const first = sources.options;
  sources.choose("web", "on");
  sources.choose("model", "played:three");
  sources.sent(first, []);
  expect([sources.chosen, sources.options]).toEqual([{ code: "code", vault: "", web: "on", model: "played:three", preset: "" }, { web: true, model: "played:three" }]);
  sources.choose("model", "played:two");
  sources.sent(sources.options, []);
  expect([sources.chosen.model, sources.options]).toEqual(["played:two", {}]);
});

test("a conversation begins with the folders that were chosen last, if they are still there", () => {
  expect(begin().options).toEqual({ code: "code", vault: "notes" });
  const one = begin();
  one.choose("code", "");
  one.choose("vault", "papers");
  one.choose("model", "played:one");
  expect(one.options).toEqual({ code: null, vault: "papers", model: "played:one" });
  expect(begin().options).toEqual({ code: null, vault: "papers" });
  one.choose("web", "off");
  expect(begin().chosen.web).toBe("off");
  one.choose("web", ""); // as the server does
  expect([begin().chosen.web, begin().options]).toEqual(["", { code: null, vault: "papers" }]);
  kept.set("sibyl.vault", "gone");
  expect(begin().chosen).toEqual({ code: "", vault: "notes", web: "", model: "", preset: "" });
});

test("a preset is the session's: each question names it until another or none is chosen", () => {
  const fresh = begin();
  fresh.choose("preset", "brief");
  expect([fresh.options["preset"], begin().chosen.preset]).toEqual(["brief", "brief"]);
  const sources = begin();
  sources.setUp({ preset: "plain" });
  expect(sources.options).toEqual({ preset: "plain" });
  sources.sent(sources.options, []);
  sources.choose("preset", "");
  expect([sources.options, begin().chosen.preset]).toEqual([{}, "brief"]);
  sources.sent(sources.options, []);
  expect(sources.chosen.preset).toBe("");
});

test("a file that is dropped goes with the next question, and comes back when it is handed over again", () => {
  const sources = begin();
  sources.setUp({ files: ["a.pdf", "b.txt"] });
  sources.drop("a.pdf");
  const first = sources.options;
  sources.drop("b.txt"); // after the first went out
  expect([first, sources.files]).toEqual([{ drop: ["a.pdf"] }, []]);
  sources.sent(first, ["c.txt"]);
  expect([sources.options, sources.files]).toEqual([{ drop: ["b.txt"] }, ["c.txt"]]);
  sources.sent(sources.options, ["a.pdf", "b.txt"]);
  expect([sources.options, sources.files]).toEqual([{}, ["c.txt", "a.pdf", "b.txt"]]);
});
