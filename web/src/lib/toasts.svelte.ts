/** How long a toast is shown, in ms, and how long one with something to be done about it. */
const shownFor = 8000;
const offeredFor = 20_000;

/** What can be done about something that happened: `act` does it, and `label` is the word on its button. */
export interface Deed {
  act: () => unknown;
  label: string;
}

export interface Toast extends Partial<Deed> {
  id: number;
  words: string;
}

/** What happened, told for a while. */
class Toasts {
  all = $state.raw<readonly Toast[]>([]);
  #last = 0;
  #timers = new Map<number, ReturnType<typeof setTimeout>>();

  add(words: string, deed?: Deed) {
    const one = { id: ++this.#last, words, ...deed };
    this.all = [...this.all, one];
    this.rest(one.id);
    return one.id;
  }

  /** Has one stay. */
  hold(id: number) {
    clearTimeout(this.#timers.get(id));
  }

  /** Has one go after a while. */
  rest(id: number) {
    this.hold(id);
    const offers = this.all.some((t) => t.id === id && t.act);
    this.#timers.set(id, setTimeout(() => this.drop(id), offers ? offeredFor : shownFor));
  }

  drop(id: number) {
    this.hold(id);
    this.#timers.delete(id);
    this.all = this.all.filter((t) => t.id !== id);
  }
}

export const toasts = new Toasts();

/** Tells what happened for a while, with what can be done about it, such as to undo it; gives the id of the toast. */
export const toast = (words: string, deed?: Deed) => toasts.add(words, deed);
