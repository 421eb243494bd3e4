import type { Component } from "svelte";
import { Loaded } from "../lib/loaded.svelte";
import { part as fetched } from "../lib/part";
import { speakOfAll } from "../lib/words.svelte";
import type { Key } from "../words";

/** A view, by the first part of its address. Those that have a name are in the bar. */
export interface View {
  part: string;
  name?: Key;
  /** Only who operates the server sees it. */
  operates?: boolean;
  /** Its component, which is fetched when it is opened first. */
  show: Loaded<Component>;
}

type File = () => Promise<{ default: Component }>;
const opened = (file: File) => new Loaded(async () => (await fetched(file)).default);
/** A view that says more than conversations do. */
const openedLater = (file: File) => new Loaded(async () => (await Promise.all([fetched(file), speakOfAll()]))[0].default);
const conversations = opened(() => import("./Conversations.svelte"));

export const views: View[] = [
  { part: "", name: "nav.conversations", show: conversations },
  { part: "session", show: conversations },
  { part: "tasks", name: "tasks.name", show: opened(() => import("./tasks/Tasks.svelte")) },
  { part: "council", name: "council.name", show: openedLater(() => import("./council/Council.svelte")) },
  { part: "why", show: openedLater(() => import("./why/Why.svelte")) },
  { part: "inquiries", name: "inquiry.nav", show: openedLater(() => import("./inquiry/Inquiry.svelte")) },
  { part: "runs", name: "runs.nav", show: openedLater(() => import("./runs/Runs.svelte")) },
  { part: "operation", name: "operation.nav", operates: true, show: openedLater(() => import("./operation/Operation.svelte")) },
];

export const viewOf = (part: string) => views.find((v) => v.part === part);
