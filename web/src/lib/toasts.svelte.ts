export interface Toast {
  id: number;
  words: string;
}

/** What happened, told for a while: as long as its style says. */
class Toasts {
  all = $state.raw<readonly Toast[]>([]);
  #last = 0;

  add(words: string) {
    this.all = [...this.all, { id: ++this.#last, words }];
  }

  drop(id: number) {
    this.all = this.all.filter((t) => t.id !== id);
  }
}

export const toasts = new Toasts();

/** Tells what happened for a while. */
export const toast = (words: string) => toasts.add(words);
