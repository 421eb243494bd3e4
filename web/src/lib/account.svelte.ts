import { get, onSignedOut, Refusal, send, unreachable, type Form } from "./api";
import { signedIn } from "./kept";
import { to } from "./route.svelte";

type Standing = "loading" | "in" | "out" | "unreachable";

/** Who uses the page. */
class Account {
  standing = $state<Standing>("loading");
  me = $state<Form<"Me">>();
  /** Why signing in did not work. */
  refused = $state("");

  get mayWrite(): boolean {
    return this.me?.scope !== "read";
  }

  /** Whether they see how the server works for all. */
  get operates(): boolean {
    return this.me?.scope === "operate";
  }

  /** The names of folders that a question may name. */
  get folders(): string[] {
    return this.me?.folders ?? [];
  }

  constructor() {
    // An address that signs in may be opened in a tab that shows the page already: that loads nothing anew.
    addEventListener("hashchange", ({ oldURL }) => {
      if (location.hash.startsWith("#sibyl_")) void this.begin(new URL(oldURL).hash);
    });
  }

  /** Signs in with the secret of the address, if there is one, and finds out who it is. Where one was before, one is then. */
  async begin(before = "") {
    this.standing = "loading";
    this.refused = "";
    const once = takeSecret(before);
    try {
      if (once) await send("POST", "/api/sign-in", { body: { token: once } });
    } catch (e) {
      if (e instanceof Refusal && e.status === 401) this.refused = e.kind;
      else return this.fail(e);
    }
    try {
      this.me = await get("/api/me");
      this.standing = "in";
    } catch (e) {
      this.fail(e);
    }
  }

  /** Looks whether it is known by now who it is, and changes nothing otherwise. */
  async lookAgain() {
    const me = await get("/api/me").catch(() => undefined);
    if (!me || this.standing === "in") return;
    this.me = me;
    this.standing = "in";
  }

  /** Signs out. It throws where the server can't be told, as who is here is then still signed in. Nothing of theirs is shown to who comes next. */
  async signOut() {
    await send("POST", "/api/sign-out").catch((e) => {
      if (!(e instanceof Refusal) || e.status === unreachable || e.status >= 500) throw e;
    });
    this.standing = "out";
    this.me = undefined;
    signedIn("");
  }

  private fail(e: unknown) {
    this.standing = e instanceof Refusal && e.status === 401 ? "out" : "unreachable";
  }
}

/** The secret stands in the fragment, which is sent to nobody. It leaves the address before anything else happens, so that no history has it. */
function takeSecret(before: string): string {
  const fragment = location.hash.slice(1);
  if (!fragment || fragment.startsWith("/")) return "";
  history.replaceState(null, "", location.pathname);
  location.replace(before.startsWith("#/") ? before : to());
  return fragment;
}

export const account = new Account();
onSignedOut(() => (account.standing = "out"));
