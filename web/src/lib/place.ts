import { route } from "./route.svelte";

/** How far views were gone through, by the entries of the history. */
const places = new Map<string, unknown>();

/** Remembers how far a view is gone through, for when one comes back. */
export const remember = (place: unknown) => places.set(route.entry, place);

/** How far the view was gone through to which one has come back; undefined elsewhere. */
export const remembered = <T>() => (route.returned ? (places.get(route.entry) as T | undefined) : undefined);
