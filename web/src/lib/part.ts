import { Refusal, unreachable } from "./api";
import { renewed, renewedFrom } from "./kept";

/** The file of the script that runs: another one stands in the page of another version of the program. */
const own = globalThis.document?.querySelector<HTMLScriptElement>("script[type=module]")?.getAttribute("src") ?? "";

/**
 * Fetches a part of the page. A tab that was open while the program was replaced asks for files that are gone: it loads the page of the new
 * program, once. Throws a Refusal where the server does not answer.
 */
export async function part<T>(fetchPart: () => Promise<T>): Promise<T> {
  try {
    return await fetchPart();
  } catch {
    if (renewed() !== own && (await isReplaced())) {
      renewedFrom(own);
      location.reload();
      return new Promise(() => {}); // nothing is shown any more
    }
    throw new Refusal(unreachable, "unreachable", "");
  }
}

/** Whether this tab has just loaded the page anew, since the program was replaced. Is told once. */
export function wasRenewed(): boolean {
  const is = renewed() !== "" && renewed() !== own;
  if (is) renewedFrom("");
  return is;
}

/** Whether the server has another page than the one that runs. */
async function isReplaced(): Promise<boolean> {
  try {
    const answer = await fetch("/", { cache: "no-cache", signal: AbortSignal.timeout(5000) });
    return answer.ok && !(await answer.text()).includes(own);
  } catch {
    return false;
  }
}
