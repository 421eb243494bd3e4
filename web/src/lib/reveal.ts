/** Brings a place of the page in sight and gives it the focus: an element whose `data-place` is called so. What folds in it is opened if that is asked for. Gives whether there is one. */
export function reveal(place: string, unfolded = false): boolean {
  const one = document.querySelector<HTMLElement>(`[data-place="${CSS.escape(place)}"]`);
  if (!one) return false;
  for (let e = one.parentElement; e; e = e.parentElement) if (e instanceof HTMLDetailsElement) e.open = true;
  if (unfolded) one.querySelector("details")?.setAttribute("open", "");
  one.scrollIntoView({ block: "nearest" });
  one.focus({ preventScroll: true });
  return true;
}
