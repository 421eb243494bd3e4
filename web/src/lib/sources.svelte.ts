import type { Form } from "./api";
import { keep, kept } from "./kept";

/** What is chosen for a question; "" for none, or for what the server does by itself. */
interface Chosen {
  code: string;
  vault: string;
  web: string; // on, off
  model: string;
  preset: string;
}
type Setup = Form<"Setup">;

const webOf = (web: unknown) => (web === undefined || web === null ? "" : web ? "on" : "off");
const ofSetup = (s: Setup): Chosen => ({ code: s.code ?? "", vault: s.vault ?? "", web: webOf(s.web), model: s.model ?? "", preset: s.preset ?? "" });

/** The sources and the model of a conversation: what the server keeps of its session, and what a person has changed for the next question. Where none has begun, the folders are those that were chosen last in this browser. */
export class Sources {
  #setup = $state.raw<Setup>();
  #changed = $state.raw<Partial<Chosen>>({});
  #dropped = $state.raw<readonly string[]>([]);

  /** `folders` are those that can be named. */
  constructor(private readonly folders: () => readonly string[]) {}

  /** Has a session be set up so, as the server tells it. */
  setUp(setup: Setup | undefined) {
    this.#setup = setup;
  }

  /** What was handed over in the session, and stays. */
  get files(): readonly string[] {
    return (this.#setup?.files ?? []).filter((name) => !this.#dropped.includes(name));
  }

  /** Has what was handed over by a name be left out from the next question on. */
  drop(name: string) {
    this.#dropped = [...this.#dropped, name];
  }

  get chosen(): Chosen {
    const usual = this.#setup ? ofSetup(this.#setup) : { code: this.#usual("code"), vault: this.#usual("vault"), web: kept("web") === "-" ? "" : kept("web"), model: "", preset: kept("preset") };
    return { ...usual, ...this.#changed };
  }

  choose(what: keyof Chosen, value: string) {
    this.#changed = { ...this.#changed, [what]: value };
    if (!this.#setup && what !== "model") keep(what, what === "preset" ? value : value || "-");
  }

  /** The options of a question. In a session only what was changed: what is left out stays as it was, and null sets it to nothing. Each names its preset. */
  get options(): Record<string, unknown> {
    const { code, vault, web, model } = this.#setup ? this.#changed : this.chosen;
    const says = (name: "code" | "vault", value: string | undefined) => (value ? { [name]: value } : this.#setup ? (value === "" ? { [name]: null } : {}) : kept(name) === "-" ? { [name]: null } : {});
    return {
      ...says("code", code),
      ...says("vault", vault),
      ...(web === "on" || web === "off" ? { web: web === "on" } : this.#setup && web === "" ? { web: null } : {}),
      ...(this.chosen.preset ? { preset: this.chosen.preset } : {}),
      ...(this.#setup && this.#dropped.length ? { drop: this.#dropped } : {}),
      ...(model ? { model } : this.#setup && model === "" ? { model: null } : {}),
    };
  }

  /** What was sent, with its options, is the session's from then on. What was chosen since is still to be sent. */
  sent(options: Record<string, unknown>, files: readonly string[]) {
    if (!this.#setup) return;
    const said: Partial<Chosen> = { preset: String(options["preset"] ?? "") };
    const gone = (options["drop"] ?? []) as readonly string[];
    for (const what of ["code", "vault", "model"] as const) if (what in options) said[what] = String(options[what] ?? "");
    if ("web" in options) said.web = webOf(options["web"]);
    const { code, vault, web, model, preset } = { ...ofSetup(this.#setup), ...said };
    const stays = (this.#setup.files ?? []).filter((name) => !gone.includes(name));
    this.#setup = { code, vault, model, preset, ...(web ? { web: web === "on" } : {}), files: [...new Set([...stays, ...files])] };
    this.#dropped = this.#dropped.filter((name) => !gone.includes(name));
    this.#changed = Object.fromEntries(Object.entries(this.#changed).filter(([what, value]) => said[what as keyof Chosen] !== value));
  }

  /** The folder that was chosen last, if it is still there, or else the one that is called so. */
  #usual(of: "code" | "vault"): string {
    const last = kept(of);
    if (last === "-") return "";
    const usual = of === "code" ? "code" : "notes";
    return this.folders().find((f) => f === last) ?? this.folders().find((f) => f === usual) ?? "";
  }
}
