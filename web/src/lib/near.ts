/** How far away from what is seen something is near, in parts of what is seen at once. */
const around = "100%";

type Tell = (near: boolean) => void;

/** Tells the entries of a list that scrolls when they come near to what is seen, and when they leave it. */
export class Near {
  #told = new Map<Element, Tell>();
  #look: IntersectionObserver | undefined;

  /** Begins to look, until the function that it returns is called. */
  within(scroller: HTMLElement): () => void {
    const look = new IntersectionObserver((all) => all.forEach((e) => this.#told.get(e.target)?.(e.isIntersecting)), { root: scroller, rootMargin: around });
    this.#look = look;
    for (const entry of this.#told.keys()) look.observe(entry);
    return () => {
      look.disconnect();
      this.#look = undefined;
    };
  }

  /** Has an entry told, at first how it stands, until the function that it returns is called. */
  watch(entry: Element, tell: Tell): () => void {
    this.#told.set(entry, tell);
    this.#look?.observe(entry);
    return () => {
      this.#told.delete(entry);
      this.#look?.unobserve(entry);
    };
  }
}
