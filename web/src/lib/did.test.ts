import { expect, test } from "vitest";
import { words, type Key } from "../words";
import { fill } from "./fill";
import { callTold, didInShort, type Call } from "./did";

const call = (tool: string, target: string, more: Partial<Call> = {}): Call => ({ tool, target, took_ms: 1, ...more });
const english = (key: string, values: Record<string, string | number>) => fill(words[key as Key][0], (name) => String(values[name]));

test("calls are told by what they did, each file once, and those that did nothing apart", () => {
  expect(didInShort([], english)).toBe("");
  expect(didInShort([call("code_search", "lease"), call("code_search", "take"), call("code_read", "a.go")], english)).toBe("Searched the code, read 1 file");
  expect(didInShort([call("code_read", "a.go"), call("code_read", "b.go"), call("code_read", "a.go")], english)).toBe("Read 2 files");
  expect(didInShort([call("tracker__get", "7"), call("web_fetch", "https://e.example", { failed: true }), call("vault_write", "a.md", { refused: true })], english)).toBe("Called tracker__get, not done: 2");
});

test("a call of an event is made to what its arguments name", () => {
  expect(callTold({ tool: "code_read", arguments: '{"path":"a.go","start":3}', items: 1, took_ms: 4 })).toEqual({ tool: "code_read", target: "a.go", items: 1, took_ms: 4, failed: false });
  expect(callTold({ tool: "x", arguments: '{"id":7}' }).target).toBe("7");
  for (const unclear of ['{"a":1,"b":2}', '{"path":"a.g…', "[]", "{}"]) expect(callTold({ tool: "x", arguments: unclear, error: "no" })).toMatchObject({ target: "", failed: true });
});
