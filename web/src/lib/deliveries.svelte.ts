import { address, get, newKey, Refusal, send, type Form } from "./api";
import { checksum, deliver, later, type Standing } from "./delivery";
import { asRefusal } from "./loaded.svelte";
import { forget, keepRecording, keptRecordings, pieceOf, seal, sizeOf, type Kept } from "./pieces";
import { beingMade } from "./recorder.svelte";
import { backOff } from "./timing";

/** How often pieces are sent while something is recorded, in ms. */
const beat = 2000;
/** How long the server may take to put a recording together, in ms. */
const patience = 10 * 60_000;
/** How long another tab that delivers is left alone, in ms. */
const respite = 5000;

const upload = "/api/council/sessions/{session}/uploads/{upload}";

/** What a recording is called that was begun at a time. */
const nameOf = ({ at, type }: Kept) => `${at.slice(0, 19).replace(/:/g, "-")}.${type.split("/")[1] ?? "webm"}`;

/** A recording of this browser on its way to the server. */
export class Delivery {
  /** It waits for the server, and goes on by itself. */
  waits = $state(false);
  /** Why it can't go on. */
  refused = $state<Refusal>();
  sending = $state(false);
  kept = $state.raw<Kept>() as Kept;
  #known: Standing | undefined;
  #failures = 0;
  #last = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    kept: Kept,
    private readonly made: (one: Delivery) => void,
  ) {
    this.kept = kept;
  }

  /** Sends what there is, now or soon, until the server has it. What was refused is sent again once it is whole. */
  go() {
    if (this.refused && !this.kept.ended) return;
    clearTimeout(this.#timer);
    const wait = this.kept.ended ? 0 : this.#last + beat - Date.now();
    this.#timer = setTimeout(() => void this.#send(), Math.max(0, wait));
  }

  stop() {
    clearTimeout(this.#timer);
  }

  async #send() {
    if (this.sending) return this.#soon(beat);
    this.sending = true;
    this.#last = Date.now();
    const { ended } = this.kept;
    try {
      // Of several tabs one sends.
      const done = await navigator.locks.request("sibyl-delivery-" + this.kept.id, { ifAvailable: true }, async (lock) => {
        if (!lock) return undefined;
        this.#known = await deliver(this.#ways(), ended, this.#known);
        if (this.#known.entry !== undefined) await this.#end(this.#known, ended);
        return this.#known;
      });
      [this.waits, this.refused, this.#failures] = [false, undefined, 0];
      if (!done) this.#soon(respite);
      else if (done.entry !== undefined) this.made(this);
    } catch (e) {
      const problem = asRefusal(e);
      this.#known = undefined;
      [this.waits, this.refused] = later(problem) ? [true, undefined] : [false, problem];
      if (this.waits) this.#soon(backOff(this.#failures++));
    } finally {
      this.sending = false;
    }
    if (ended !== this.kept.ended) this.go();
  }

  /** Forgets a recording that is made. If it was made elsewhere of a part alone, it goes to the server anew, so that nothing is lost. */
  async #end({ bytes = 0 }: Standing, ended: boolean) {
    const { id } = this.kept;
    if (ended && bytes >= (await sizeOf(id))) return forget(id);
    const anew = { ...this.kept, as: newKey() };
    await keepRecording(anew);
    [this.kept, this.#known] = [anew, undefined];
  }

  #soon(ms: number) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#send(), ms);
  }

  #ways() {
    const { id, session } = this.kept;
    const where = { session, upload: this.kept.as ?? id };
    return {
      seal: () => seal(id),
      piece: (number: number) => pieceOf(id, number),
      standing: () => get(upload, where),
      send: async (number: number, piece: Blob) =>
        send<Standing>("PUT", address(upload + "/pieces/{number}", { ...where, number, checksum: await checksum(piece) }), { body: piece }),
      finish: async (pieces: number) => {
        const { entry } = await send<Form<"CouncilAdded">>("POST", address(upload, where), { body: { pieces, name: nameOf(this.kept) }, patience });
        return { pieces: 0, entry: entry.sequence, bytes: entry.file_size_bytes };
      },
    };
  }
}

/** The recordings that this browser keeps, of all sessions of who is signed in. Those that were ended are delivered. */
class Deliveries {
  all = $state<Delivery[]>([]);
  /** They can't be kept or read here. */
  broken = $state("");
  #made = new Set<(session: string) => void>();

  /** Hears of recordings that are made, until the function that it returns is called. */
  hear(tell: (session: string) => void): () => void {
    this.#made.add(tell);
    return () => this.#made.delete(tell);
  }

  /** Looks for recordings that are kept here; those of which another tab makes more are left to it. */
  async look(user: string) {
    try {
      const kept = await keptRecordings(user);
      const made = await Promise.all(kept.map((k) => beingMade(k.id)));
      for (const one of this.all.filter((d) => !kept.some((k) => k.id === d.kept.id))) this.#drop(one);
      for (const one of kept.filter((k, i) => !made[i] || this.of(k.id))) this.note(one, one.ended);
      this.broken = "";
    } catch (e) {
      this.broken = e instanceof Error ? e.message : String(e);
    }
  }

  of(id: string): Delivery | undefined {
    return this.all.find((d) => d.kept.id === id);
  }

  /** Takes in a recording as it is kept, and sends what there is of it. */
  note(kept: Kept, sent = true) {
    const one = this.of(kept.id) ?? this.#begin(kept);
    const { as } = one.kept;
    one.kept = as && !kept.as ? { ...kept, as } : kept;
    if (one.kept !== kept) void keepRecording(one.kept);
    if (sent) one.go();
  }

  /** Takes an interrupted recording for whole. */
  async finish(one: Delivery) {
    const ended = { ...one.kept, ended: true };
    await keepRecording(ended);
    this.note(ended);
  }

  async discard(one: Delivery) {
    const { id, session, as } = one.kept;
    await send("DELETE", address(upload, { session, upload: as ?? id })).catch((e) => {
      if (!(e instanceof Refusal && e.status === 404)) throw e; // else its session was deleted
    });
    await forget(id);
    this.#drop(one);
  }

  #begin(kept: Kept): Delivery {
    this.all.push(
      new Delivery(kept, (one) => {
        this.#drop(one);
        for (const tell of this.#made) tell(kept.session);
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
