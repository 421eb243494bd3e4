import { expect, test, vi } from "vitest";
import type { Form } from "./api";
import { Talk } from "./talk.svelte";

const row = (id: string, records: number, status: Form<"Run">["status"] = "running") =>
  ({ id, records, status, session_id: "s", state: status }) as unknown as Form<"Run">;

/** What is known of runs that were told of while others were fetched, the latest first. */
async function known(fetched: Form<"Run">[], told: Form<"Run">[]) {
  vi.stubGlobal("fetch", () => Promise.resolve(new Response(JSON.stringify({ runs: fetched }))));
  const talk = new Talk("s");
  const loaded = talk.load(new AbortController().signal);
  told.forEach((one) => talk.take(one));
  await loaded;
  return talk.rows.map(({ id, records, status }) => [id, records, status]);
}

test("a run that ended while its list was on the way has ended", async () => {
  expect(await known([row("b", 2), row("a", 3, "done")], [row("b", 5, "done")])).toEqual([
    ["a", 3, "done"],
    ["b", 5, "done"],
  ]);
});

test("what was fetched later than it was told counts, and a run that began since stays", async () => {
  expect(await known([row("a", 9, "done")], [row("a", 4), row("c", 1)])).toEqual([
    ["a", 9, "done"],
    ["c", 1, "running"],
  ]);
});
