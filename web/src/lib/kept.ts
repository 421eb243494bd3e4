const prefix = "sibyl.";

/** Some browsers keep nothing: what is kept there is then "", and holds until the page is closed. */
function read(where: () => Storage, name: string): string {
  try {
    return where().getItem(prefix + name) ?? "";
  } catch {
    return "";
  }
}

function write(where: () => Storage, name: string, value: string) {
  try {
    if (value) where().setItem(prefix + name, value);
    else where().removeItem(prefix + name);
  } catch {
    // It is there as long as it is shown.
  }
}

const browser = () => localStorage;
const tab = () => sessionStorage;

/** What this browser keeps of how the page is to look; "" for nothing. */
export const kept = (name: string) => read(browser, name);
export const keep = (name: string, value: string) => write(browser, name, value);

/** Who was signed in last in this browser; "" if nobody was. */
export const lastUser = () => kept("user");
export const signedIn = (user: string) => keep("user", user);

/** Words that wait for the server, as outbox.ts keeps them; "" for none. */
export const lettersKept = () => kept("outbox");
export const keepLetters = (all: string) => keep("outbox", all);

/** Words that are not sent yet. */
export const draft = (of: string) => read(tab, "draft." + of);
export const keepDraft = (of: string, words: string) => write(tab, "draft." + of, words);

/** Where the changed words of a question are kept, by its run. */
export const editOf = (run: string) => `edit.${run}`;

/** The script of the page that this tab has left for that of a newer program. */
export const renewed = () => read(tab, "renewed");
export const renewedFrom = (script: string) => write(tab, "renewed", script);
