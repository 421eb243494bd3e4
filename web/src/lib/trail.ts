import type { Form } from "./api";

type Step = Form<"Step">;
type Event = Form<"Event">;

/** What a row of a timeline is of. Each has a word of its own and a tone. */
export const sorts = {
  step: "plain",
  class: "accent",
  tools: "plain",
  turn: "accent",
  signal: "accent",
  search: "plain",
  read: "plain",
  call: "plain",
  doubt: "warn",
  loop: "warn",
  hint: "warn",
  held: "warn",
  refused: "bad",
  failed: "bad",
  budget: "plain",
  notes: "plain",
  answer: "good",
  question: "accent",
  decided: "plain",
  node: "plain",
  key: "plain",
} as const;
export type Sort = keyof typeof sorts;

/** The types of events of a sort; those of no sort are decided. */
const types: Partial<Record<Sort, readonly string[]>> = {
  class: ["class.chosen", "intent.read"],
  tools: ["tools.offered", "tools.added", "tool.taken_away"],
  turn: ["turn.taken"],
  signal: ["signal.heard", "signal.taken"],
  read: ["task.resolved"],
  call: ["tool.selected"],
  doubt: ["reply.doubted", "classifier.asked", "fallback.decided", "reply.not_own", "request.cut"],
  loop: ["loop.found"],
  hint: ["hint.given"],
  held: ["call.held", "person.asked"],
  refused: ["call.refused", "capability.missing"],
  failed: ["model.unheard", "answer.unsaved", "part.skipped", "recording.failed"],
  budget: ["budget.seen"],
  notes: ["notes.taken"],
  answer: ["answer.accepted", "oracle.heard", "answer.heard"],
  question: ["oracle.asked", "question.put"],
};
const byType = new Map(Object.entries(types).flatMap(([sort, all]) => all.map((type) => [type, sort as Sort])));

export function sortOf(e: Event): Sort {
  if (e.type === "call.done") {
    const call = e.data as { tool?: string; error?: string };
    if (call.error) return "failed";
    return /search|list|map|seek/.test(call.tool ?? "") ? "search" : /read|fetch|open|symbol/.test(call.tool ?? "") ? "read" : "call";
  }
  if (e.type === "oracle.heard" && (e.data as { failed?: string }).failed) return "failed";
  if (e.type) return byType.get(e.type) ?? "decided";
  return e.key ? "key" : "node";
}

const ofStory: Record<string, "accent" | "good" | "warn" | "bad"> = {
  asked: "accent", said: "accent", answered: "good", failed: "bad",
  held: "warn", refused: "warn", asks: "warn", waits: "warn", part: "warn", limit: "warn", stopped: "warn", lacked: "warn",
};

/** The tone of a line of a story, by its code; what is none of the story's says what an answer lacks. */
export function toneOf(code = "") {
  const [kind, what] = code.split(".");
  return kind === "story" || kind === "control" ? (ofStory[what!] ?? "plain") : "warn";
}

/** A row of a timeline: an event of a step by their places, or the step itself where it told nothing (event is -1). */
export interface Row {
  step: number;
  event: number;
  sort: Sort;
  /** It is the first of its step. */
  first: boolean;
}

/** The rows of some steps: what was told in them, or all that happened. Those before from have their rows already. */
export function rowsOf(steps: readonly Step[], all: boolean, from = 0): Row[] {
  const rows: Row[] = [];
  for (let step = from; step < steps.length; step++) {
    const before = rows.length;
    steps[step]!.events.forEach((e, event) => {
      if (all || e.type) rows.push({ step, event, sort: sortOf(e), first: rows.length === before });
    });
    if (rows.length === before) rows.push({ step, event: -1, sort: "step", first: true });
  }
  return rows;
}

/** How much of a budget is used. */
export interface Spent {
  kind: string;
  used: number;
  limit: number;
}

/** The budgets as they were seen last, up to a step. */
export function budgetAt(steps: readonly Step[], step: number): Spent[] {
  for (let i = Math.min(step, steps.length - 1); i >= 0; i--) {
    const seen = steps[i]!.events.findLast((e) => e.type === "budget.seen");
    if (seen) return (seen.data as { used?: Spent[] }).used ?? [];
  }
  return [];
}

/** What a node did: its status in the step that is looked at, or that it acted before it. */
export type Deed = "SUCCESS" | "FAILURE" | "RUNNING" | "SKIPPED" | "HALTED" | "before" | "told";

/** The nodes that acted up to a step, by their numbers. */
export function firedBy(steps: readonly Step[], step: number): Map<number, Deed> {
  const fired = new Map<number, Deed>();
  for (let i = 0; i < step && i < steps.length; i++) for (const e of steps[i]!.events) fired.set(e.node, "before");
  for (const e of steps[step]?.events ?? []) fired.set(e.node, e.status ?? (fired.get(e.node) === "before" || !fired.has(e.node) ? "told" : fired.get(e.node)!));
  return fired;
}

/** A node of an outline with those in it. */
export interface Branch {
  node: Form<"TreeNode">;
  in: Branch[];
}

/** The outline of a tree; undefined for one without nodes. */
export function outline(nodes: readonly Form<"TreeNode">[]): Branch | undefined {
  const all = nodes.map((node): Branch => ({ node, in: [] }));
  for (const one of all) all[one.node.parent]?.in.push(one);
  return all[0];
}

/** The nodes that others lie in which act in a step. */
export function above(nodes: readonly Form<"TreeNode">[], fired: ReadonlyMap<number, Deed>): Set<number> {
  const over = new Set<number>();
  for (const [node, deed] of fired) {
    if (deed === "before") continue;
    for (let at = nodes[node]?.parent ?? -1; at >= 0 && !over.has(at); at = nodes[at]!.parent) over.add(at);
  }
  return over;
}

/** Where rows of one height are to be drawn: from the first that is seen to behind the last, with some around. */
export function windowOf(count: number, height: number, top: number, seen: number, around = 8): { from: number; to: number } {
  const from = Math.max(0, Math.min(count, Math.floor(top / height) - around));
  return { from, to: Math.min(count, Math.ceil((top + seen) / height) + around) };
}
