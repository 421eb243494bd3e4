/** How far away from what is seen something is near, in parts of what is seen at once. */
const around = "100%";

type Tell = (near: boolean) => void;

const told = new WeakMap<Element, Tell>();
const looks = new WeakMap<Element, IntersectionObserver>(); // by what scrolls

/**
 * Tells an entry of what scrolls when it comes near to what is seen, and when it leaves it; at first how it stands. It does so until the
 * function that it returns is called.
 */
export function whenNear(entry: Element, tell: Tell): () => void {
  const root = entry.closest(".scroll")!;
  const report = (all: IntersectionObserverEntry[]) => all.forEach((e) => told.get(e.target)?.(e.isIntersecting));
  const look = looks.get(root) ?? new IntersectionObserver(report, { root, rootMargin: around });
  looks.set(root, look);
  told.set(entry, tell);
  look.observe(entry);
  return () => look.unobserve(entry);
}
