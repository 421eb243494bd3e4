/** How low a page is, in px, of which a keyboard on the screen has taken a part. */
const low = 480;

/** Has the page be as high as what is seen of it, so that what stands at its foot stands above a keyboard on the screen, and says (`data-typing`) when there is one. */
export function standAboveKeyboard() {
  const { visualViewport: seen, document: { documentElement: root } } = globalThis;
  const fit = () => {
    if (!seen || seen.scale > 1.01) return; // somebody looks closer
    root.style.setProperty("--seen", `${seen.height}px`);
    root.toggleAttribute("data-typing", seen.height < low && !!document.activeElement?.matches("input, textarea"));
    scrollTo(0, 0); // where a browser has moved the page up to show what is typed
  };
  for (const change of ["resize", "scroll"]) seen?.addEventListener(change, fit); // Safari moves the page without telling of another size
  for (const focus of ["focusin", "focusout"]) addEventListener(focus, () => setTimeout(fit));
  fit();
}

const fitsByItself = globalThis.CSS?.supports("field-sizing", "content");

/** Has a field be as high as what is written in it where the browser does not see to that: Safari before 26. */
export function fitWords(field: HTMLTextAreaElement) {
  if (fitsByItself) return;
  field.style.height = "auto";
  field.style.height = `${field.scrollHeight}px`;
}
