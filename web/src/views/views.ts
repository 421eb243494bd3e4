import type { Component } from "svelte";
import type { IconName } from "../lib/icons";
import { Loaded } from "../lib/loaded.svelte";
import { part as fetched } from "../lib/part";
import { speakOfAll } from "../lib/words.svelte";
import type { Key } from "../words";
import Conversations from "./Conversations.svelte";

/** A view, by the first part of its address. Those that have a name are in the bar if they are those of an assistant, and otherwise in the menu. */
export interface View {
  part: string;
  name?: Key;
  icon?: IconName;
  /** That of its assistant. */
  colour?: string;
  /** Only who operates the server sees it. */
  operates?: boolean;
  /** Its component, which is fetched when it is opened first, unless it is that of conversations. */
  show: Loaded<Component>;
}

type File = () => Promise<{ default: Component }>;
const opened = (file: File) => new Loaded(async () => (await fetched(file)).default);
/** A view that says more than conversations do. */
const openedLater = (file: File) => new Loaded(async () => (await Promise.all([fetched(file), speakOfAll()]))[0].default);
const conversations = new Loaded<Component>(async () => Conversations); // with which most begin

export const views: View[] = [
  { part: "", name: "assistant.oracle", icon: "talk", colour: "var(--oracle)", show: conversations },
  { part: "session", show: conversations },
  { part: "tasks", name: "assistant.tasks", icon: "tasks", colour: "var(--tasks)", show: opened(() => import("./tasks/Tasks.svelte")) },
  { part: "council", name: "assistant.council", icon: "council", colour: "var(--council)", show: openedLater(() => import("./council/Council.svelte")) },
  { part: "why", show: openedLater(() => import("./why/Why.svelte")) },
  { part: "inquiries", name: "inquiry.nav", icon: "inquiry", colour: "var(--inquiry)", show: openedLater(() => import("./inquiry/Inquiry.svelte")) },
  { part: "runs", name: "runs.nav", icon: "runs", show: openedLater(() => import("./runs/Runs.svelte")) },
  { part: "costs", name: "costs.nav", icon: "gauge", show: openedLater(() => import("./costs/CostsView.svelte")) },
  { part: "setup", name: "setup.nav", icon: "wrench", operates: true, show: openedLater(() => import("./setup/Setup.svelte")) },
  { part: "operation", name: "operation.nav", icon: "gauge", operates: true, show: openedLater(() => import("./operation/Operation.svelte")) },
];

export const viewOf = (part: string) => views.find((v) => v.part === part);
