import type { Form } from "./api";
import { lastTold, thinks, type LiveRun } from "./live.svelte";
import { goesOn, stands } from "./talk.svelte";
import { say, sayOr } from "./words.svelte";

type Row = Form<"Run">;

/** How a run stands, in one word for all assistants. */
export type Phase = "works" | "thinks" | "reads" | "busy" | "paused" | "waits" | "stopped" | "failed" | "done";

export function phaseOf(row: Row, now?: LiveRun): Phase {
  if (stands(row)) return "paused";
  if (goesOn(row)) return now?.pause ? "busy" : now?.reading ? "reads" : thinks(now) ? "thinks" : "works";
  const ended = { failed: "failed", cancelled: "stopped", needs_user: "waits" } as const;
  return ended[row.status as keyof typeof ended] ?? "done";
}

/** Whether somebody works on it. */
export const isAtWork = (phase: Phase) => phase === "works" || phase === "thinks" || phase === "reads" || phase === "busy";

/** How a run stands, in a sentence; clock is the time, in ms. */
export function told(row: Row, now?: LiveRun, clock = Date.now()): string {
  switch (phaseOf(row, now)) {
    case "paused":
      return sayOr(`fail.${row.cause}`, say("talk.paused"));
    case "waits":
      return say("talk.waits");
    case "stopped":
      return say("talk.stopped");
    case "failed":
      return say("talk.failed");
    case "done":
      return say(row.assistant === "inquiry" ? "talk.done" : "talk.ready");
    default:
      return lastTold(now, clock) || say("talk.working");
  }
}
