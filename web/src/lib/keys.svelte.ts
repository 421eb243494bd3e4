/** What can be done by a key from everywhere, with the keys as people read them. */
export const keys = {
  find: ["Ctrl+K", "/"],
  new: ["n"],
  next: ["j"],
  previous: ["k"],
  stop: ["s"],
  runs: ["r"],
  keys: ["?"],
} as const;
export type Action = keyof typeof keys;

const acts = new Map<Action, () => void>();

/** Has an action done so, until the function that it returns is called. The one that was told last counts. */
export function whenPressed(action: Action, act: () => void): () => void {
  const before = acts.get(action);
  acts.set(action, act);
  return () => {
    if (acts.get(action) !== act) return;
    if (before) acts.set(action, before);
    else acts.delete(action);
  };
}

let stepping = false;

/** Whether one goes from conversation to conversation by keys, which a field that takes the keyboard would end. */
export const steps = () => stepping;

/** Tells that one writes from now on. */
export function stopStepping() {
  stepping = false;
}

/** Does what an action is for where one is; nothing where it is for nothing. */
export function press(action: Action) {
  stepping = action === "next" || action === "previous";
  acts.get(action)?.();
}

/** The action of a pressed key; undefined for a key that belongs to a field, a dialog or the browser. */
export function actionOf(e: KeyboardEvent): Action | undefined {
  if (e.defaultPrevented || e.isComposing || e.repeat || e.altKey) return undefined;
  const open = !!document.querySelector("dialog[open]");
  if (e.ctrlKey || e.metaKey) return e.key.toLowerCase() === "k" && !e.shiftKey && !open ? "find" : undefined;
  if (open || isField(e.target)) return undefined;
  return (Object.keys(keys) as Action[]).find((action) => (keys[action] as readonly string[]).includes(e.key));
}

const isField = (at: EventTarget | null) => at instanceof HTMLElement && (at.isContentEditable || at.matches("input, textarea, select"));

export function listen(e: KeyboardEvent) {
  const action = actionOf(e);
  if (!action || !acts.has(action)) return;
  e.preventDefault();
  press(action);
}
