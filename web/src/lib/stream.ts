import type { Form } from "./api";

type Told = Form<"StreamEvent">;
/** The events of a stream by their names, with their data. */
export type Events = { [E in Told as E["event"]]: E["data"] };
type Name = keyof Events;
type Hearer = { [N in Name]?: (data: Events[N]) => void };

const names: Name[] = ["sync", "begin", "record", "step", "event", "text", "retract", "wait", "reading", "thinking", "end"];

/** The records by which a run stops short or goes on. */
export const turns = ["suspend", "resume", "leave"];

/** How the connection stands. */
export type Link = "connecting" | "open" | "lost";

/**
 * The one stream of a tab: what happens in all runs of who is signed in. A browser opens few connections to a server, and a stream holds one as
 * long as it lasts. It goes on after the last event that was seen, whatever breaks.
 */
export class Stream {
  #source: EventSource | undefined;
  #last = "";
  #hearers = new Set<Hearer>();
  #again: ReturnType<typeof setTimeout> | undefined;
  #tries = 0;

  constructor(
    private readonly changed: (link: Link) => void,
    private readonly open: (address: string) => EventSource = (address) => new EventSource(address),
    /** Is told when the answer was no stream: a browser says nothing of why. */
    private readonly refused: () => void = () => {},
  ) {}

  start() {
    this.stop();
    this.changed("connecting");
    const source = this.open("/api/events?html=true" + (this.#last ? "&after=" + encodeURIComponent(this.#last) : ""));
    this.#source = source;
    source.onopen = () => {
      this.#tries = 0;
      this.changed("open");
    };
    source.onerror = () => {
      this.changed("lost");
      if (source.readyState !== 2) return; // the browser tries again by itself
      this.#later();
      this.refused();
    };
    for (const name of names) source.addEventListener(name, (e) => this.#take(name, e as MessageEvent<string>));
  }

  /** Ends the connection. What was seen is remembered: start goes on behind it. */
  stop() {
    clearTimeout(this.#again);
    this.#source?.close();
    this.#source = undefined;
  }

  /** Has someone told of events until the function that it returns is called. */
  hear(hearer: Hearer): () => void {
    this.#hearers.add(hearer);
    return () => this.#hearers.delete(hearer);
  }

  #later() {
    this.#again = setTimeout(() => this.start(), Math.min(30_000, 500 * 2 ** this.#tries++));
  }

  #take<N extends Name>(name: N, message: MessageEvent<string>) {
    if (message.lastEventId) this.#last = message.lastEventId;
    const data = JSON.parse(message.data) as Events[N];
    for (const hearer of this.#hearers) hearer[name]?.(data);
  }
}
