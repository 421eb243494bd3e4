import { get, type Form } from "./api";
import { Loaded } from "./loaded.svelte";
import { money, say } from "./words.svelte";

type Model = Form<"Model">;

/** How long, in ms, what is there is believed. */
const fresh = 60_000;

/** The models that can be asked. */
class Models {
  readonly loaded = new Loaded((signal) => get("/api/models", {}, signal));
  #at = -fresh;

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
