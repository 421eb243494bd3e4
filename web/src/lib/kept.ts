const prefix = "sibyl.";

/** What this browser keeps of how the page is to look; "" for nothing. */
export function kept(name: string): string {
  try {
    return localStorage.getItem(prefix + name) ?? "";
  } catch {
    return ""; // the browser keeps nothing
  }
}

export function keep(name: string, value: string) {
  try {
    localStorage.setItem(prefix + name, value);
  } catch {
    // It holds until the page is closed.
  }
}

/** Words that this tab keeps while they are not sent; "" for none. */
export function draft(of: string): string {
  try {
    return sessionStorage.getItem(prefix + "draft." + of) ?? "";
  } catch {
    return "";
  }
}

export function keepDraft(of: string, words: string) {
  try {
    if (words) sessionStorage.setItem(prefix + "draft." + of, words);
    else sessionStorage.removeItem(prefix + "draft." + of);
  } catch {
    // They are there as long as they are shown.
  }
}
