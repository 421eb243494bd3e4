import type { Form } from "./api";
import { keep, kept } from "./kept";

/** What is chosen for a question; "" for none, or for what the server does by itself. */
interface Chosen {
  code: string;
  vault: string;
  web: string; // on, off
  model: string;
}
type Setup = Form<"Setup">;

const ofSetup = (s: Setup): Chosen => ({ code: s.code ?? "", vault: s.vault ?? "", web: s.web === undefined ? "" : s.web ? "on" : "off", model: s.model ?? "" });

/** The sources and the model of a conversation: what the server keeps of its session, and what a person has changed for the next question. Where none has begun, the folders are those that were chosen last in this browser. */
export class Sources {
  #setup = $state.raw<Setup>();
  #changed = $state.raw<Partial<Chosen>>({});

  /** `folders` are those that can be named. */
  constructor(private readonly folders: () => readonly string[]) {}

  /** Has a session be set up so, as the server tells it. */
  setUp(setup: Setup | undefined) {
    this.#setup = setup;
  }

  /** What was handed over in the session. */
  get files(): readonly string[] {
    return this.#setup?.files ?? [];
  }

  get chosen(): Chosen {
    const usual = this.#setup ? ofSetup(this.#setup) : { code: this.#usual("code"), vault: this.#usual("vault"), web: kept("web") === "-" ? "" : kept("web"), model: "" };
    return { ...usual, ...this.#changed };
  }

  choose(what: keyof Chosen, value: string) {
    this.#changed = { ...this.#changed, [what]: value };
    if (!this.#setup && what !== "model") keep(what, value || "-");
  }

  /** The options of a question. In a session only what was changed: what is left out stays as it was, and null sets it to nothing. */
  get options(): Record<string, unknown> {
    const { code, vault, web, model } = this.#setup ? this.#changed : this.chosen;
    const says = (name: "code" | "vault", value: string | undefined) => (value ? { [name]: value } : this.#setup ? (value === "" ? { [name]: null } : {}) : kept(name) === "-" ? { [name]: null } : {});
    return {
      ...says("code", code),
      ...says("vault", vault),
      ...(web === "on" || web === "off" ? { web: web === "on" } : this.#setup && web === "" ? { web: null } : {}),
      ...(model ? { model } : this.#setup && model === "" ? { model: null } : {}),
    };
  }

  /** What was sent is the session's from then on. */
  sent(files: readonly string[]) {
    if (!this.#setup) return;
    const { code, vault, web, model } = this.chosen;
    this.#setup = { code, vault, model, ...(web ? { web: web === "on" } : {}), files: [...new Set([...this.files, ...files])] };
    this.#changed = {};
  }

  /** The folder that was chosen last, if it is still there, or else the one that is called so. */
  #usual(of: "code" | "vault"): string {
    const last = kept(of);
    if (last === "-") return "";
    const usual = of === "code" ? "code" : "notes";
    return this.folders().find((f) => f === last) ?? this.folders().find((f) => f === usual) ?? "";
  }
}
