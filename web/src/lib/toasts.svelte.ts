/** How long a toast is shown, in ms. */
const shownFor = 8000;

export interface Toast {
  id: number;
  words: string;
}

/** What happened, told for a while. */
class Toasts {
  all = $state.raw<readonly Toast[]>([]);
  #last = 0;
  #timers = new Map<number, ReturnType<typeof setTimeout>>();

  add(words: string) {
    const one = { id: ++this.#last, words };
    this.all = [...this.all, one];
    this.rest(one.id);
  }

  /** Has one stay. */
  hold(id: number) {
    clearTimeout(this.#timers.get(id));
  }

  /** Has one go after a while. */
  rest(id: number) {
    this.hold(id);
    this.#timers.set(id, setTimeout(() => this.drop(id), shownFor));
  }

  drop(id: number) {
    this.hold(id);
    this.#timers.delete(id);
    this.all = this.all.filter((t) => t.id !== id);
  }
}

export const toasts = new Toasts();

/** Tells what happened for a while. */
export const toast = (words: string) => toasts.add(words);
