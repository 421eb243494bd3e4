import type { Form } from "../../lib/api";
import { didTo } from "../../lib/tasks";
import { say } from "../../lib/words.svelte";

/** A change in words. */
export function toldOf(c: Form<"TaskChange">): string {
  const what = didTo(c)
    .map((d) => say(`tasks.changed.${d.what}`, { title: d.title, old: d.old ?? "" }))
    .join("; ");
  return c.action === "undo" ? say("tasks.changed.undo", { what }) : what;
}
