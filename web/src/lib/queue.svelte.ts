import { draft, keepDraft } from "./kept";

/** Messages that wait until what is being answered has an answer. Each can be taken back until it is sent. */
export class Queue<M extends { words: string }> {
  waiting = $state.raw<readonly M[]>([]);
  /** The first was refused, or what came before it has no answer: it waits for the person. */
  held = $state(false);
  #sending = false;

  /** `place` names the drafts: the words survive a reload. */
  constructor(private readonly place: string) {}

  /** The words that waited when the page was left. They are nobody's then but the person's. */
  left(): string {
    const words = draft(this.place);
    keepDraft(this.place, "");
    return words;
  }

  add(message: M) {
    this.#set([...this.waiting, message]);
  }

  /** Takes a message back, and gives it. */
  take(message: M): M {
    this.#set(this.waiting.filter((m) => m !== message));
    return message;
  }

  /** Sends the first, once; the others wait for its answer. */
  async next(send: (message: M) => Promise<boolean>) {
    const first = this.waiting[0];
    if (!first || this.#sending) return;
    this.#sending = true;
    this.held = !(await send(first));
    this.#sending = false;
    if (!this.held) this.take(first);
  }

  #set(waiting: readonly M[]) {
    this.waiting = waiting;
    if (!waiting.length) this.held = false;
    keepDraft(this.place, waiting.map((m) => m.words).join("\n\n"));
  }
}
