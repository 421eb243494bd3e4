import { Refusal, unreachable } from "./api";

/** How a recording stands on the server: the first so many pieces are there, or it is made of them. */
export interface Standing {
  pieces: number;
  entry?: number;
  /** That its pieces have, or the recording. */
  bytes?: number;
}

/** What it takes to deliver a recording. All but the first two ask the server. */
export interface Ways {
  /** Makes pieces of what there is, and says how many there are. */
  seal(): Promise<number>;
  piece(number: number): Promise<Blob>;
  standing(): Promise<Standing>;
  send(number: number, piece: Blob): Promise<Standing>;
  /** Makes a recording of so many pieces. */
  finish(pieces: number): Promise<Standing>;
}

/** Whether what was refused may be taken another time, as it is. */
export const later = (e: Refusal) => e.status === unreachable || e.status === 408 || e.status === 429 || e.status >= 500 || e.kind === "broken_body";

/** Whether the server has other pieces than was thought, or none. */
const mistaken = (e: unknown) => e instanceof Refusal && e.kind === "pieces";

/** How often the server is asked anew how it stands before that is an error. */
const mostDoubts = 3;

/**
 * Sends the pieces that the server has not, each once, and has it make the recording if that was ended. `known` is how it stood last; undefined: it is
 * asked. Gives how it stands then; with an entry it is made.
 */
export async function deliver(ways: Ways, ended: boolean, known?: Standing): Promise<Standing> {
  const all = await ways.seal();
  for (let doubts = 0; ; doubts++) {
    try {
      let now = known ?? (await ways.standing());
      while (now.entry === undefined && now.pieces < all) now = await ways.send(now.pieces + 1, await ways.piece(now.pieces + 1));
      if (now.entry !== undefined || !ended) return now;
      return all ? await ways.finish(all) : { pieces: 0, entry: 0, bytes: 0 };
    } catch (e) {
      if (!mistaken(e) || doubts === mostDoubts) throw e;
      known = undefined;
    }
  }
}

/** The checksum of a piece, as the server has it. */
export async function checksum(piece: Blob): Promise<string> {
  const sum = await crypto.subtle.digest("SHA-256", await piece.arrayBuffer());
  return "sha256:" + [...new Uint8Array(sum)].map((b) => b.toString(16).padStart(2, "0")).join("");
}
