import { account } from "./account.svelte";
import { sendAll } from "./outbox";
import { go, here } from "./route.svelte";
import { sayTo } from "./talk.svelte";

/** Sends what was written while the server was away, each as a conversation of its own, and shows the last one. What can't be sent now stays for the next time. */
export async function sendKept() {
  const folders = { code: "code", vault: "notes" };
  const options = Object.fromEntries(Object.entries(folders).filter(([, name]) => account.folders.includes(name)));
  const stayed = here();
  await sendAll(account.me?.user ?? "", async ({ words, key }) => {
    const { session } = await sayTo({ assistant: "oracle", session: "", words, options, replaces: "", files: [] }, key);
    if (stayed()) go(["session", session], "replaced");
  }).catch(() => undefined);
}
