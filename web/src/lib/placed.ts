import { Refusal } from "./api";

/** Fetches each of some things by its id. One that is gone (404) is left out; one that can't be fetched now is as it was `before`, if it was there. */
export async function eachOf<T extends { id: string }>(ids: readonly string[], before: readonly T[], fetch: (id: string) => Promise<T>): Promise<T[]> {
  const found = await Promise.all(ids.map((id) => fetch(id).catch((e) => {
    if (!(e instanceof Refusal)) throw e;
    return e.status === 404 ? undefined : before.find((one) => one.id === id);
  })));
  return found.filter((one) => !!one);
}
