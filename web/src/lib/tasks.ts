import type { Form } from "./api";
import { say } from "./words.svelte";

type Task = Form<"Task">;
type Change = Form<"TaskChange">;

/** What a change did to a task, in parts: each a key of words with the values put in. */
export function didTo(c: Change): { what: "added" | "back" | "deleted" | "renamed" | "described" | "undescribed" | "completed" | "reopened"; title: string; old?: string }[] {
  const { before, after } = c;
  if (!after) return before ? [{ what: "deleted", title: before.title }] : [];
  if (!before) return [{ what: c.action === "undo" ? "back" : "added", title: after.title }];
  const all: ReturnType<typeof didTo> = [];
  if (before.title !== after.title) all.push({ what: "renamed", title: after.title, old: before.title });
  if ((before.description ?? "") !== (after.description ?? "")) all.push({ what: after.description ? "described" : "undescribed", title: after.title });
  if (before.status !== after.status) all.push({ what: after.status === "completed" ? "completed" : "reopened", title: after.title });
  return all;
}

/** A change in words. */
export function toldOf(c: Change): string {
  const what = didTo(c).map((d) => say(`tasks.changed.${d.what}`, { title: d.title, old: d.old ?? "" })).join("; ");
  return c.action === "undo" ? say("tasks.changed.undo", { what }) : what;
}

/** By which way a change was made: a run of a conversation, another program, the command line or this page. */
export function wayOf(actor: string): { way: "chat" | "program" | "cli" | "page" | "other"; name: string } {
  const [way, ...rest] = actor.split(": ");
  const name = rest.join(": ");
  if (way === "chat" && name) return { way: "chat", name };
  if (way === "mcp" && name) return { way: "program", name };
  if (actor === "cli") return { way: "cli", name: "" };
  if (actor === "http") return { way: "page", name: "" };
  return { way: "other", name: actor };
}

/** The tasks that are other ones than before, by their ids. Before anything was seen there are none. */
export function changedSince(seen: Map<number, number> | undefined, now: readonly Task[]): Set<number> {
  return new Set(seen ? now.filter((t) => seen.get(t.id) !== t.version).map((t) => t.id) : []);
}
