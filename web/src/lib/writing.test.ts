import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Writing, type Sent } from "./writing.svelte";

let sent: Sent[];
let answers: ((arrived: boolean) => void)[];
let handed: { files: unknown[]; reading: string };
let arrivals: number;
let drafts: Map<string, string>;

beforeEach(() => {
  [sent, answers, arrivals, drafts] = [[], [], 0, new Map()];
  handed = { files: [], reading: "" };
  vi.stubGlobal("sessionStorage", {
    getItem: (name: string) => drafts.get(name) ?? null,
    setItem: (name: string, value: string) => drafts.set(name, value),
    removeItem: (name: string) => drafts.delete(name),
  });
});
afterEach(() => {
  vi.unstubAllGlobals();
});

const writing = (place = "ada.oracle") =>
  new Writing(place, handed, (what) => (sent.push(what), new Promise((done) => answers.push(done))), () => arrivals++);

/** Has what was sent first of all that waits arrive, or be refused. */
async function answer(arrived = true) {
  answers.shift()!(arrived);
  for (let turn = 0; turn < 10; turn++) await Promise.resolve();
}

const said = () => sent.map((s) => s.words);

test("what is written stays until it has arrived, and is then gone", async () => {
  const w = writing();
  w.words = "Who mended it?";
  void w.press();
  expect([w.words, w.sending, said()]).toEqual(["Who mended it?", true, ["Who mended it?"]]);
  await answer();
  expect([w.words, w.sending, arrivals]).toEqual(["", false, 1]);
});

test("what was refused stays where it was written, and is sent by the next press", async () => {
  const w = writing();
  w.words = "Who mended it?";
  void w.press();
  await answer(false);
  expect([w.words, w.sending, arrivals]).toEqual(["Who mended it?", false, 0]);
  void w.press();
  expect(said()).toEqual(["Who mended it?", "Who mended it?"]);
});

test("the same is not sent twice by who presses twice", async () => {
  const w = writing();
  w.words = "Who mended it?";
  void w.press();
  void w.press();
  await answer();
  expect(said()).toEqual(["Who mended it?"]);
});

test("what a fast writer types and sends while something is sent follows it", async () => {
  const w = writing();
  w.words = "Who mended it?";
  void w.press();
  w.words += " And when?";
  void w.press();
  expect(said()).toEqual(["Who mended it?"]);
  await answer();
  expect([said(), w.words]).toEqual([["Who mended it?", "And when?"], "And when?"]);
  await answer();
  expect(w.words).toBe("");
});

test("what is typed while something is sent, and not sent, stays", async () => {
  const w = writing();
  w.words = "Who mended it?";
  void w.press();
  w.words += " And wh";
  await answer();
  expect([said(), w.words]).toEqual([["Who mended it?"], "And wh"]);
});

test("a press while something is sent that is then refused sends nothing", async () => {
  const w = writing();
  w.words = "Who mended it?";
  void w.press();
  w.words += " And when?";
  void w.press();
  await answer(false);
  expect([said(), w.words]).toEqual([["Who mended it?"], "Who mended it? And when?"]);
});

test("what is put while something is sent is said after it, whether that arrived or not, and only the last of it", async () => {
  for (const arrived of [true, false]) {
    sent = [];
    const w = writing();
    void w.put("Call Ada");
    void w.put("Call Ada");
    void w.put("Call Bob");
    void w.put("Call Eve");
    await answer(arrived);
    expect(said()).toEqual(["Call Ada", "Call Eve"]);
    await answer();
  }
});

test("nothing is sent of blanks, nor while a file is read", async () => {
  const w = writing();
  w.words = " \n";
  await w.press();
  handed.reading = "talk.txt";
  w.words = "What is in it?";
  await w.press();
  expect(said()).toEqual([]);
});

test("what is given back stands after what is written, and nothing of either is lost, though something is being sent", async () => {
  const w = writing();
  w.add("first letter");
  w.add("second letter");
  expect(w.words).toBe("first letter\n\nsecond letter");
  void w.press();
  w.add("third letter");
  await answer();
  expect([said(), w.words]).toEqual([["first letter\n\nsecond letter"], "third letter"]);
});

test("a file that is handed over while something is sent stays for the next", async () => {
  const w = writing();
  handed.files = ["talk.txt"];
  w.words = "What is in it?";
  void w.press();
  handed.files = [...handed.files, "door.txt"];
  await answer();
  expect(handed.files).toEqual(["door.txt"]);
});

test("what is put to be changed while something is sent is not taken away when that arrives", async () => {
  const w = writing();
  w.words = "Who mended it?";
  void w.press();
  w.edit("Who mended it?");
  await answer();
  expect(w.words).toBe("Who mended it?");
});

test("a question that is asked again takes its own files along, and leaves what is written", async () => {
  const w = writing();
  w.words = "half a question";
  const earlier = { run: "r1", files: ["talk.txt"] };
  handed.files = ["door.txt"];
  void w.again("What colour is it?", earlier);
  expect(sent[0]).toEqual({ words: "What colour is it?", earlier });
  await answer();
  expect([w.words, handed.files]).toEqual(["half a question", ["door.txt"]]);
});

test("a draft is its writer's and its conversation's, and goes when it has arrived", async () => {
  const w = writing();
  w.words = "half a question";
  w.keep();
  expect([writing().words, writing("eve.oracle").words]).toEqual(["half a question", ""]);
  void w.press();
  await answer();
  expect(writing().words).toBe("");
});
