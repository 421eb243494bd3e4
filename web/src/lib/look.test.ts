import { beforeEach, expect, test, vi } from "vitest";

let kept: Map<string, string>;
let focused: string;

beforeEach(() => {
  vi.resetModules();
  kept = new Map();
  focused = "";
  vi.stubGlobal("localStorage", { getItem: (n: string) => kept.get(n) ?? null, setItem: (n: string, v: string) => kept.set(n, v), removeItem: (n: string) => kept.delete(n) });
  vi.stubGlobal("document", { documentElement: { dataset: {} }, activeElement: { matches: (of: string) => !!focused && of.split(", ").includes(focused) } });
  vi.stubGlobal("matchMedia", () => ({ matches: false }));
});

const fresh = () => import("./look.svelte");
const key = (of: Partial<KeyboardEvent>) => ({ key: "Enter", isComposing: false, ctrlKey: false, metaKey: false, shiftKey: false, ...of }) as KeyboardEvent;

test("Enter sends and Shift+Enter begins a line, unless it is chosen the other way round; Ctrl+Enter sends in any case", async () => {
  const { sends, chooseEnter } = await fresh();
  expect([{}, { shiftKey: true }, { ctrlKey: true }, { metaKey: true, shiftKey: true }].map((k) => sends(key(k)))).toEqual([true, false, true, true]);
  chooseEnter("line");
  expect([{}, { shiftKey: true }, { ctrlKey: true }].map((k) => sends(key(k)))).toEqual([false, true, true]);
});

test("an Enter that ends the writing of a sign sends nothing, nor does another key", async () => {
  const { sends } = await fresh();
  expect([sends(key({ isComposing: true })), sends(key({ key: "a" }))]).toEqual([false, false]);
});

test("on a screen that is touched Enter begins a line, and nothing takes the keyboard", async () => {
  vi.stubGlobal("matchMedia", () => ({ matches: true }));
  const { enterIsLine, mayFocus } = await fresh();
  expect([enterIsLine(), mayFocus()]).toEqual([true, false]);
});

test("the keyboard is left to a field in which somebody writes", async () => {
  const { mayFocus } = await fresh();
  expect(mayFocus()).toBe(true);
  focused = "input";
  expect(mayFocus()).toBe(false);
});

test("colours and keys that were chosen hold in the browser", async () => {
  const first = await fresh();
  first.choose("dark");
  first.chooseEnter("line");
  vi.resetModules();
  const { look, enterIsLine } = await fresh();
  expect([look(), enterIsLine(), document.documentElement.dataset.colours]).toEqual(["dark", true, "dark"]);
  kept.set("sibyl.colours", "pink");
  vi.resetModules();
  expect((await fresh()).look()).toBe("auto");
});
