import { keepLetters, lastUser, lettersKept } from "./kept";

/** Words that were written while the server was away. */
export interface Letter {
  /** By which the server knows it again, however often it is sent. */
  key: string;
  /** Who wrote it: it is sent in no other name. */
  user: string;
  words: string;
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

/** Sends what somebody has written, in its order, each once: what could not be sent stays, and all after it. Another tab that sends is waited for. */
export async function sendAll(user: string, send: (one: Letter) => Promise<unknown>): Promise<void> {
  const all = async () => {
    for (const one of letters().filter((of) => of.user === user)) {
      await send(one);
      takeBack(one.key);
    }
  };
  await (globalThis.navigator?.locks ? navigator.locks.request("sibyl.outbox", all) : all());
}
