import { expect, test, vi } from "vitest";
import { Refusal } from "./api";
import { Speaking } from "./speaking.svelte";
import type { Message } from "./talk.svelte";

const draft = (words: string) => ({ assistant: "oracle", words, options: {}, replaces: "", files: [] });

test("what is said after the first words of a conversation goes into that one", async () => {
  const sessions: string[] = [];
  const speaking = new Speaking("", async (m: Message) => (sessions.push(m.session), { run: "r", session: "s1" }));
  const begins: boolean[] = [];
  const then = async (_: unknown, is: boolean) => void begins.push(is);
  await speaking.say(draft("one"), "", then);
  await speaking.say(draft("two"), "r", then);
  expect([sessions, begins, speaking.begun]).toEqual([["", "s1"], [true, false], "s1"]);
});

test("what is refused has begun nothing, and is sent again by the same key, from the same place", async () => {
  const sent: [key: string, follows: string | undefined][] = [];
  const post = vi.fn(async (m: Message, key: string) => {
    if (sent.push([key, m.follows]) === 1) throw new Refusal(503, "busy", "");
    return { run: "r", session: "s1" };
  });
  const speaking = new Speaking("", post);
  const then = vi.fn(async () => undefined);
  expect([await speaking.say(draft("one"), "a", then), speaking.begun, then.mock.calls.length]).toEqual([false, "", 0]);
  expect([await speaking.say(draft("one"), "b", then), speaking.begun, sent[0]]).toEqual([true, "s1", sent[1]]);
  await speaking.say(draft("one"), "b", then);
  expect(sent[2]![1]).toBe("b");
});
