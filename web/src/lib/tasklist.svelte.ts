import { untrack } from "svelte";
import { address, get, send, type Form } from "./api";
import { calm } from "./clock.svelte";
import { live } from "./live.svelte";
import { Loaded } from "./loaded.svelte";
import { changedSince } from "./tasks";
import { whileVisible } from "./visible";
import { say } from "./words.svelte";

type Task = Form<"Task">;
export type Status = Task["status"];

/** How many tasks are fetched at once, and how many at most when the list is fetched anew. */
const page = 50;
const most = 200;

/** The tasks of one status: those that are fetched, and where more are found. */
class Part {
  tasks = $state<Task[]>([]);
  total = $state(0);
  next = $state<number>();
  constructor(readonly status: Status) {}

  /** Fetches the first tasks, as many as there were; gives what an undo would take back. */
  async load(signal?: AbortSignal) {
    const limit = Math.min(most, Math.max(page, untrack(() => this.tasks.length)));
    return this.#take(await get("/api/tasks", { status: this.status, order: this.#order, limit }, signal), []);
  }

  async more() {
    this.#take(await get("/api/tasks", { status: this.status, order: this.#order, limit: page, after: this.next }), this.tasks);
  }

  get #order() {
    return this.status === "completed" ? "newest" : "oldest";
  }

  #take(got: Form<"Tasks">, before: Task[]) {
    const fresh = new Set(got.tasks.map((t) => t.id)); // a part may be asked for twice at once
    this.tasks = [...before.filter((t) => !fresh.has(t.id)), ...got.tasks];
    this.total = got.total;
    this.next = got.next;
    return got.last;
  }
}

/** The task list of who is signed in, as it is while a view shows it. */
class TaskList {
  readonly pending = new Part("pending");
  readonly completed = new Part("completed");
  last = $state<Form<"TaskChange">>();
  /** Those that the last look found changed. */
  changed = $state(new Set<number>());
  #seen: Map<number, number> | undefined;

  readonly loaded = new Loaded(async (signal) => {
    const [last] = await Promise.all([this.pending.load(signal), this.completed.load(signal)]);
    this.last = last;
    const all = [...this.pending.tasks, ...this.completed.tasks];
    this.changed = changedSince(this.#seen, all);
    this.#seen = new Map(all.map((t) => [t.id, t.version]));
    return true;
  });

  /** Keeps the list as it is, until the function that it returns is called. Other programs change it too: it is looked at again when the page is. */
  follow(): () => void {
    const again = calm(100, () => this.loaded.load());
    const seen = () => {
      if (document.visibilityState === "visible") again();
    };
    const unheard = live.stream.hear({ end: ({ row }) => row.assistant === "tasks" && again(), sync: again });
    document.addEventListener("visibilitychange", seen);
    this.loaded.load();
    const hidden = whileVisible(() => this.pending.tasks);
    return () => {
      hidden();
      unheard();
      document.removeEventListener("visibilitychange", seen);
      this.loaded.stop();
    };
  }

  /** Fetches more, until a task is on the list. An error says that it is not. */
  async find(id: number) {
    for (const part of [this.pending, this.completed]) {
      while (!part.tasks.some((t) => t.id === id) && part.next) await part.more();
      if (part.tasks.some((t) => t.id === id)) return;
    }
    throw new Error(say("app.missing"));
  }

  /** Does a change, and looks what the list is like then. */
  async #change(what: () => Promise<unknown>) {
    try {
      await what();
    } finally {
      await this.loaded.load();
    }
  }

  add(title: string, key: string) {
    return this.#change(() => send("POST", "/api/tasks", { key, body: { title } }));
  }

  /** Changes a task, if it is as it was seen. */
  edit(task: Task, what: Omit<Form<"TaskEdit">, "version">) {
    return this.#change(() => send("PATCH", address("/api/tasks/{task}", { task: task.id }), { body: { version: task.version, ...what } }));
  }

  remove(task: Task) {
    return this.#change(() => send("DELETE", address("/api/tasks/{task}", { task: task.id, version: task.version })));
  }

  /** Takes back a change, if it is still the last one. */
  undo(change: number) {
    return this.#change(() => send("POST", "/api/tasks/undo", { key: crypto.randomUUID(), body: { change } }));
  }

  /** The version of a task that is on the list; undefined: it was not seen. */
  version(id: number): number | undefined {
    return (this.pending.tasks.find((t) => t.id === id) ?? this.completed.tasks.find((t) => t.id === id))?.version;
  }
}

export const taskList = new TaskList();
