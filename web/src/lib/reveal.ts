/** Brings a place of the page in sight and gives it the focus: an element whose `data-place` is called so. Gives whether there is one. */
export function reveal(place: string): boolean {
  const one = document.querySelector<HTMLElement>(`[data-place="${CSS.escape(place)}"]`);
  if (!one) return false;
  for (let e = one.parentElement; e; e = e.parentElement) if (e instanceof HTMLDetailsElement) e.open = true;
  one.scrollIntoView({ block: "nearest" });
  one.focus({ preventScroll: true });
  return true;
}
