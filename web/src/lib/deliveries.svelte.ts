import { address, type Refusal, send, type Form } from "./api";
import { asRefusal } from "./loaded.svelte";
import { beingMade } from "./recorder.svelte";
import { forget, keepRecording, keptRecordings, soundOf, type Kept } from "./recordings";
import { backOff } from "./timing";

/** How long a recording may take to be sent, in ms. */
const patience = 30 * 60_000;

/** What a recording is called that was begun at a time. */
const nameOf = ({ at, type }: Kept) => `${at.slice(0, 19).replace(/:/g, "-")}.${type.split("/")[1] ?? "webm"}`;

/** A recording of this browser, which goes to the server once it is whole. */
export class Delivery {
  /** It waits for the server, and is sent again by itself. */
  waits = $state(false);
  /** Why the server does not take it. */
  refused = $state<Refusal>();
  sending = $state(false);
  kept = $state.raw<Kept>() as Kept;
  #failures = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    kept: Kept,
    private readonly sent: (one: Delivery) => void,
  ) {
    this.kept = kept;
  }

  /** Sends it, until the server has it or refuses it. Sent twice it is one entry: the server knows its content. */
  async send() {
    clearTimeout(this.#timer);
    if (this.sending) return;
    this.sending = true;
    try {
      const { id, session } = this.kept;
      // One of several tabs sends; for the others nothing is left then.
      await navigator.locks.request("sibyl-delivery-" + id, async () => {
        const body = await soundOf(this.kept);
        const path = address("/api/council/sessions/{session}/entries", { session, name: nameOf(this.kept) });
        if (body.size) await send<Form<"CouncilAdded">>("POST", path, { body, patience });
        await forget(id);
      });
      [this.waits, this.refused, this.#failures] = [false, undefined, 0];
      this.sent(this);
    } catch (e) {
      const problem = asRefusal(e);
      [this.waits, this.refused] = problem.isFinal ? [false, problem] : [true, undefined];
      if (this.waits) this.#timer = setTimeout(() => void this.send(), backOff(this.#failures++));
    } finally {
      this.sending = false;
    }
  }

  stop() {
    clearTimeout(this.#timer);
  }
}

/** The recordings that this browser keeps, of all sessions of who is signed in. Those that were ended are sent. */
class Deliveries {
  all = $state<Delivery[]>([]);
  /** They can't be kept or read here. */
  broken = $state("");
  #sent = new Set<(session: string) => void>();

  /** Hears of recordings that the server has, until the function that it returns is called. */
  hear(tell: (session: string) => void): () => void {
    this.#sent.add(tell);
    return () => this.#sent.delete(tell);
  }

  /** Looks for recordings that are kept here; those of which another tab makes more are left to it. */
  async look(user: string) {
    try {
      const kept = await keptRecordings(user);
      const made = await Promise.all(kept.map((k) => beingMade(k.id)));
      for (const one of this.all.filter((d) => !d.sending && !kept.some((k) => k.id === d.kept.id))) this.#drop(one);
      for (const one of kept.filter((k, i) => !made[i] || this.#of(k.id))) this.note(one);
      this.broken = "";
    } catch (e) {
      this.broken = e instanceof Error ? e.message : String(e);
    }
  }

  #of(id: string): Delivery | undefined {
    return this.all.find((d) => d.kept.id === id);
  }

  /** Takes in a recording as it is kept, and sends it if it is whole. What was refused is sent again when its person wants it. */
  note(kept: Kept) {
    const one = this.#of(kept.id) ?? this.#begin(kept);
    one.kept = kept;
    if (kept.ended && !one.refused) void one.send();
  }

  /** Takes an interrupted recording for whole, and sends it. */
  async finish(one: Delivery) {
    one.kept = { ...one.kept, ended: true };
    await keepRecording(one.kept);
    await one.send();
  }

  async discard(one: Delivery) {
    await forget(one.kept.id);
    this.#drop(one);
  }

  #begin(kept: Kept): Delivery {
    this.all.push(
      new Delivery(kept, (one) => {
        this.#drop(one);
        for (const tell of this.#sent) tell(kept.session);
      }),
    );
    return this.all.at(-1)!;
  }

  #drop(one: Delivery) {
    one.stop();
    this.all = this.all.filter((d) => d.kept.id !== one.kept.id);
  }
}

export const deliveries = new Deliveries();
