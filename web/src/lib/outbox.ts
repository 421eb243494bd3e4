import { Refusal } from "./api";
import { keepLetters, lastUser, lettersKept } from "./kept";

/** Words that were written while the server was away. */
export interface Letter {
  /** By which the server knows it again, however often it is sent. */
  key: string;
  /** Who wrote it: it is sent in no other name. */
  user: string;
  words: string;
  /** Why the server does not take it, as it says. It is then sent by nobody: the person has it back. */
  refused?: string;
}

export function letters(): Letter[] {
  try {
    return JSON.parse(lettersKept() || "[]") as Letter[];
  } catch {
    return []; // nobody wrote this
  }
}

const store = (all: readonly Letter[]) => keepLetters(all.length ? JSON.stringify(all) : "");

export const write = (words: string) => store([...letters(), { key: crypto.randomUUID(), user: lastUser(), words }]);
export const takeBack = (key: string) => store(letters().filter((one) => one.key !== key));

/** What the server has refused of somebody's letters. */
export const returned = (user: string) => letters().filter((one) => one.user === user && one.refused !== undefined);

/** Has somebody told, until the function that it gives is called, when the server has refused a letter. */
export function onReturned(tell: () => void): () => void {
  listeners.add(tell);
  return () => listeners.delete(tell);
}
const listeners = new Set<() => void>();

/** Whether the same would be refused again: neither the server nor who asks is away, or busy. */
const isFinal = (e: unknown): e is Refusal => e instanceof Refusal && e.status >= 400 && e.status < 500 && ![401, 408, 429].includes(e.status);

/**
 * Sends what somebody has written, in its order, each once. What the server refuses is given back; what could not be sent for another reason stays, and
 * all after it. Another tab that sends is waited for.
 */
export async function sendAll(user: string, send: (one: Letter) => Promise<unknown>): Promise<void> {
  const all = async () => {
    for (const one of letters().filter((of) => of.user === user && of.refused === undefined)) {
      try {
        await send(one);
      } catch (e) {
        if (!isFinal(e)) throw e;
        if (e.kind !== "key_used") { // which says that it arrived before, though not how
          store(letters().map((of) => (of.key === one.key ? { ...of, refused: e.words } : of)));
          for (const tell of listeners) tell();
          continue;
        }
      }
      takeBack(one.key);
    }
  };
  await (globalThis.navigator?.locks ? navigator.locks.request("sibyl.outbox", all) : all());
}
