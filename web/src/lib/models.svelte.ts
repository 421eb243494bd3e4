import { get, type Form } from "./api";
import { keep, kept } from "./kept";
import { Loaded } from "./loaded.svelte";
import { money, say } from "./words.svelte";

type Model = Form<"Model">;

/** How many conversations are remembered with their model, and how long, in ms, what is there is believed. */
const mostKept = 50;
const fresh = 60_000;

/** The models that can be asked, and which of them answers in each conversation. */
class Models {
  readonly loaded = new Loaded((signal) => get("/api/models", {}, signal));
  #at = -fresh;
  #chosen = $state.raw<Readonly<Record<string, string>>>(read());

  /** Looks which there are, unless that was just done. */
  look() {
    if (performance.now() - this.#at < fresh) return;
    this.#at = performance.now();
    void this.loaded.load().then(() => {
      if (this.loaded.problem) this.#at = -fresh;
    });
  }

  /** The one that answers where none is chosen; "" if one has to be. */
  get usual(): string {
    return this.loaded.value?.default ?? "";
  }

  /** Who has models that can be asked. */
  get providers(): readonly Form<"ModelProvider">[] {
    return this.loaded.value?.providers.filter((p) => p.models.length) ?? [];
  }

  /** No language model answers where none is chosen. */
  get offline(): boolean {
    return this.loaded.value?.offline ?? false;
  }

  /** The one that was chosen for a conversation; "" for the usual one. "" as the conversation: for the one that is about to begin. */
  chosenIn(session: string): string {
    return this.#chosen[session] ?? "";
  }

  choose(session: string, model: string) {
    const { [session]: _, ...others } = this.#chosen;
    this.#chosen = Object.fromEntries([...Object.entries(others), ...(model ? [[session, model]] : [])].slice(-mostKept));
    keep("models", JSON.stringify({ ...this.#chosen, "": "" }));
  }

  /** What was chosen for the conversation that was about to begin is that of the session that began. */
  began(session: string) {
    const model = this.chosenIn("");
    this.choose("", "");
    if (model) this.choose(session, model);
  }
}

function read(): Record<string, string> {
  try {
    const told: unknown = JSON.parse(kept("models") || "{}");
    return Object.fromEntries(Object.entries(told ?? {}).filter(([, model]) => typeof model === "string" && model));
  } catch {
    return {};
  }
}

export const models = new Models();

const rules = "offline:";

/** A model without its provider. */
export const nameOf = (id: string) => (id.startsWith(rules) ? say("model.none") : id.slice(id.indexOf(":") + 1));

/** A model with what a million tokens of it cost. */
export function described(m: Model): string {
  const currency = models.loaded.value?.currency ?? "";
  const cost = m.price && say("model.price", { input: money(m.price.input, currency), output: money(m.price.output, currency) });
  return [nameOf(m.id), cost, m.no_tools && !m.id.startsWith(rules) ? say("model.no.tools") : ""].filter(Boolean).join(" · ");
}

/** Who has a model, and whether what is asked stays on the machines of whoever runs the server. */
export const heading = (p: Form<"ModelProvider">) =>
  p.provider === rules.slice(0, -1) ? say("model.rules") : say(p.local ? "model.local" : "model.cloud", { provider: p.provider });
