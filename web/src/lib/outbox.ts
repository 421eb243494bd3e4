import { Refusal } from "./api";
import { keepLetters, lastUser, lettersKept } from "./kept";

/** Words that were written while the server was away. */
export interface Letter {
  /** By which the server knows it again, however often it is sent. */
  key: string;
  /** Who wrote it: it is sent in no other name. */
  user: string;
  words: string;
  /** Why the server does not take it. It is then sent by nobody: the person has it back. */
  refused?: Pick<Refusal, "status" | "kind" | "message" | "told">;
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

/** What the server has refused of somebody's letters, and why. */
export const returned = (user: string) => letters().flatMap(({ refused: no, ...one }) => (no && one.user === user ? [{ ...one, why: new Refusal(no.status, no.kind, no.message, no.told) }] : []));

/** Has somebody told, until the function that it gives is called, when the server has refused a letter. */
export function onReturned(tell: () => void): () => void {
  listeners.add(tell);
  return () => listeners.delete(tell);
}
const listeners = new Set<() => void>();

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
        if (!(e instanceof Refusal && e.isFinal)) throw e;
        if (e.kind !== "key_used") { // which says that it arrived before, though not how
          const { status, kind, message, told } = e;
          store(letters().map((of) => (of.key === one.key ? { ...of, refused: { status, kind, message, told } } : of)));
          for (const tell of listeners) tell();
          continue;
        }
      }
      takeBack(one.key);
    }
  };
  await (globalThis.navigator?.locks ? navigator.locks.request("sibyl.outbox", all) : all());
}
