import { draft, keepDraft } from "./kept";

const all = new Map<string, unknown>();

/** The queue of a conversation, by the place of its draft. Whoever goes elsewhere in the page and comes back finds it as it was. */
export function queueAt<M extends { words: string }>(place: string): Queue<M> {
  if (!all.has(place)) all.set(place, new Queue<M>(place));
  return all.get(place) as Queue<M>;
}

/** Messages that wait until what is being answered has an answer. Each can be taken back until it is sent. */
export class Queue<M extends { words: string }> {
  waiting = $state.raw<readonly M[]>([]);
  /** The first was refused, or what came before it has no answer: it waits for the person. */
  held = $state(false);
  /** The first is on its way: it can't be taken back. */
  sending = $state.raw<M>();

  /** `place` names the drafts: the words survive a reload. */
  constructor(private readonly place: string) {}

  /** The words that waited when the page was left. They are nobody's then but the person's. */
  left(): string {
    if (this.waiting.length) return "";
    const words = draft(this.#draft);
    keepDraft(this.#draft, "");
    return words;
  }

  /** Sends a message, unless an answer is under way or others wait: then it waits too. Where a conversation has begun here, and is not shown yet, it waits in
   * that one, at the place `begun`. Whether it was sent, or waits. */
  async offer(message: M, send: (message: M) => Promise<boolean>, going: boolean, begun = ""): Promise<boolean> {
    const there: Queue<M> = begun ? queueAt(begun) : this;
    if (!going && !begun && !this.waiting.length) return send(message);
    there.add(message);
    return true;
  }

  add(message: M) {
    this.#set([...this.waiting, message]);
  }

  /** Takes a message back, unless it is on its way. Whether it did. */
  take(message: M): boolean {
    const waits = message !== this.sending && this.waiting.includes(message);
    if (waits) this.#set(this.waiting.filter((m) => m !== message));
    return waits;
  }

  /** Sends the first, once; the others wait for its answer. */
  async next(send: (message: M) => Promise<boolean>) {
    const first = this.waiting[0];
    if (!first || this.sending) return;
    this.sending = first;
    this.held = !(await send(first));
    this.sending = undefined;
    if (!this.held) this.take(first);
  }

  get #draft() {
    return `${this.place}.waiting`;
  }

  #set(waiting: readonly M[]) {
    this.waiting = waiting;
    if (!waiting.length) this.held = false;
    keepDraft(this.#draft, waiting.map((m) => m.words).join("\n\n"));
  }
}
