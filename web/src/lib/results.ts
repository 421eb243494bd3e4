import { get, type Form } from "./api";

type Told = Form<"RunWithResult">;

/** How many results the server gives at once, and how long, in ms, before more are asked for. */
const most = 20;
const between = 200;

interface Asked {
  run: string;
  signal: AbortSignal;
  tell: (told: Told | Promise<Told>) => void;
  fail: (problem: unknown) => void;
}

let waiting: Asked[] = [];
let timer: ReturnType<typeof setTimeout> | undefined;
let last = -between;

/** What was asked for before it was shown. */
const ahead = new Map<string, Promise<Told>>();

/** Asks at once for what came of runs that are about to be shown. */
export function askAhead(runs: readonly string[]) {
  ahead.clear();
  if (!runs.length) return;
  for (const run of runs) {
    const told = enqueue(run, new AbortController().signal);
    told.catch(() => undefined); // whoever shows it tells it
    ahead.set(run, told);
  }
  clearTimeout(timer);
  void ask();
}

/**
 * What came of a run, with its answer as HTML. Those that are asked for at once are fetched together: who scrolls through a long session asks
 * for many. What is aborted before it is fetched is never told.
 */
export function resultOf(run: string, signal: AbortSignal): Promise<Told> {
  const told = ahead.get(run) ?? enqueue(run, signal);
  ahead.delete(run);
  return told;
}

function enqueue(run: string, signal: AbortSignal): Promise<Told> {
  return new Promise((tell, fail) => {
    waiting.push({ run, signal, tell, fail });
    timer ??= setTimeout(ask, Math.max(0, last + between - performance.now()));
  });
}

async function ask() {
  waiting = waiting.filter((w) => !w.signal.aborted);
  const now = waiting.splice(0, most);
  last = performance.now();
  timer = waiting.length ? setTimeout(ask, between) : undefined;
  if (!now.length) return;
  try {
    const { runs } = await get("/api/results", { run: now.map((w) => w.run).join(","), html: true });
    const told = new Map(runs.map((r) => [r.id, r]));
    // What was left out says why when it is asked for by itself.
    for (const w of now) w.tell(told.get(w.run) ?? get("/api/runs/{run}", { run: w.run, html: true }, w.signal));
  } catch (problem) {
    for (const w of now) w.fail(problem);
  }
}
