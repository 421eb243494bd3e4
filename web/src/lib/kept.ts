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

/** What this tab keeps until it is closed; "" for nothing. */
function ofTab(name: string): string {
  try {
    return sessionStorage.getItem(prefix + name) ?? "";
  } catch {
    return "";
  }
}

function keepOfTab(name: string, value: string) {
  try {
    if (value) sessionStorage.setItem(prefix + name, value);
    else sessionStorage.removeItem(prefix + name);
  } catch {
    // It is there as long as it is shown.
  }
}

/** Words that are not sent yet. */
export const draft = (of: string) => ofTab("draft." + of);
export const keepDraft = (of: string, words: string) => keepOfTab("draft." + of, words);

/** The script of the page that this tab has left for that of a newer program. */
export const renewed = () => ofTab("renewed");
export const renewedFrom = (script: string) => keepOfTab("renewed", script);
