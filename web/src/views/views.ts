import type { Component } from "svelte";
import type { Key } from "../words";
import Conversations from "./Conversations.svelte";
import Council from "./council/Council.svelte";
import Inquiry from "./inquiry/Inquiry.svelte";
import Operation from "./operation/Operation.svelte";
import Runs from "./runs/Runs.svelte";
import Tasks from "./tasks/Tasks.svelte";
import Why from "./why/Why.svelte";

/** A view, by the first part of its address. Those that have a name are in the bar. */
export interface View {
  part: string;
  name?: Key;
  /** Only who operates the server sees it. */
  operates?: boolean;
  show: Component;
}

export const views: View[] = [
  { part: "", name: "nav.conversations", show: Conversations },
  { part: "session", show: Conversations },
  { part: "tasks", name: "tasks.name", show: Tasks },
  { part: "council", name: "council.name", show: Council },
  { part: "why", show: Why },
  { part: "inquiries", name: "inquiry.nav", show: Inquiry },
  { part: "runs", name: "runs.nav", show: Runs },
  { part: "operation", name: "operation.nav", show: Operation, operates: true },
];

export const viewOf = (part: string) => views.find((v) => v.part === part);
