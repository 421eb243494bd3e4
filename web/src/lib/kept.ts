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
