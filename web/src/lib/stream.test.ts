import { expect, test, vi } from "vitest";
import { Stream } from "./stream";

/** A source of events that the test drives. */
class Source {
  static all: Source[] = [];
  readyState = 0;
  onopen: (() => void) | undefined;
  onerror: (() => void) | undefined;
  closed = false;
  readonly heard = new Map<string, (e: MessageEvent<string>) => void>();
  constructor(readonly address: string) {
    Source.all.push(this);
  }
  addEventListener(name: string, hear: (e: MessageEvent<string>) => void) {
    this.heard.set(name, hear);
  }
  close() {
    this.closed = true;
  }
  tell(name: string, data: unknown, lastEventId = "") {
    this.heard.get(name)!({ data: JSON.stringify(data), lastEventId } as MessageEvent<string>);
  }
}

function opened() {
  Source.all = [];
  const links: string[] = [];
  const refused = vi.fn();
  const stream = new Stream((link) => links.push(link), (address) => new Source(address) as unknown as EventSource, refused);
  stream.start();
  return { stream, links, refused, last: () => Source.all.at(-1)! };
}

test("a stream that the browser gave up goes on after the last event that was seen", () => {
  vi.useFakeTimers();
  const { stream, links, last } = opened();
  const seen: string[] = [];
  stream.hear({ end: ({ run }) => seen.push(run) });
  last().onopen?.();
  last().tell("end", { run: "r1" }, "17:r1");
  last().readyState = 2;
  last().onerror?.();
  expect(Source.all.length).toBe(1);
  vi.advanceTimersByTime(500);
  expect(Source.all.length).toBe(2);
  expect(Source.all[0]!.closed).toBe(true);
  expect(last().address).toBe("/api/events?html=true&after=17%3Ar1");
  last().tell("end", { run: "r2" });
  expect(seen).toEqual(["r1", "r2"]);
  expect(links).toEqual(["connecting", "open", "lost", "connecting"]);
  vi.useRealTimers();
});

test("an answer that is no stream is told of, and a connection that breaks is not", () => {
  vi.useFakeTimers();
  const { refused, last } = opened();
  last().onerror?.();
  expect(refused).not.toHaveBeenCalled();
  last().readyState = 2;
  last().onerror?.();
  expect(refused).toHaveBeenCalledOnce();
  vi.useRealTimers();
});

test("each failed attempt waits longer, up to half a minute", () => {
  vi.useFakeTimers();
  const { last } = opened();
  for (const wait of [500, 1000, 2000, 4000, 8000, 16000, 30000, 30000]) {
    const before = Source.all.length;
    last().readyState = 2;
    last().onerror?.();
    vi.advanceTimersByTime(wait - 1);
    expect(Source.all.length).toBe(before);
    vi.advanceTimersByTime(1);
    expect(Source.all.length).toBe(before + 1);
  }
  vi.useRealTimers();
});

test("a stream that was stopped does not come again by itself", () => {
  vi.useFakeTimers();
  const { stream, last } = opened();
  last().readyState = 2;
  last().onerror?.();
  stream.stop();
  vi.advanceTimersByTime(60_000);
  expect(Source.all.length).toBe(1);
  vi.useRealTimers();
});
