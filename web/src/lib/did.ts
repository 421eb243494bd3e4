import type { Form } from "./api";

export type Call = Form<"Call">;

/** What is told together of the tools that do it. */
const sorts: Record<string, string> = {
  code_search: "code", code_symbol: "code", code_history: "code", repo_map: "code", code_read: "files",
  vault_search: "notes", vault_list: "notes", thread_seek: "notes", thread_list: "notes", vault_read: "note", thread_read: "note", vault_write: "written", thread_push: "written",
  web_search: "web", web_fetch: "pages",
};

/** Whether a call wrote a note. */
export const wrote = (c: Call) => sorts[c.tool] === "written" && !c.failed && !c.refused;

/** What calls did, in a few words: “searched the code, read 2 files”. Of those that failed or were not made it is told how many there are. */
export function didInShort(calls: readonly Call[], say: (key: string, values: Record<string, string | number>) => string): string {
  const done = new Map<string, Set<string>>(); // by sort: what it was done to
  for (const { tool, target, failed, refused } of calls) {
    if (failed || refused) continue;
    const sort = sorts[tool] ?? tool;
    done.set(sort, (done.get(sort) ?? new Set()).add(target ?? ""));
  }
  const told = [...done].map(([sort, of]) => {
    if (!Object.values(sorts).includes(sort)) return say("did.other", { tool: sort });
    return say(`did.${sort}`, { n: of.size });
  });
  const not = calls.filter((c) => c.failed || c.refused).length;
  if (not) told.push(say("did.not", { n: not }));
  const text = told.join(", ");
  return text.slice(0, 1).toLocaleUpperCase() + text.slice(1);
}

/** A call as an event tells of it; its arguments are JSON, which may be cut. */
export function callTold(d: { tool: string; arguments: string; items?: number; took_ms?: number; error?: string }): Call {
  return { tool: d.tool, target: targetOf(d.arguments), items: d.items ?? 0, took_ms: d.took_ms ?? 0, failed: !!d.error };
}

function targetOf(text: string): string {
  try {
    const given = JSON.parse(text) as Record<string, unknown>;
    const only = Object.keys(given).length === 1 ? Object.values(given)[0] : "";
    return String(given["url"] ?? given["path"] ?? given["query"] ?? only);
  } catch {
    return "";
  }
}
