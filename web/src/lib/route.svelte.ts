/** Where one is in the page: the parts of the address behind `#/`. */
class Route {
  parts = $state<string[]>([]);
  /** The entry of the browser's history. */
  entry = $state("");
  /** One has come back to it. */
  returned = false;

  constructor() {
    const read = () => {
      const known = (history.state as { entry?: string } | null)?.entry;
      this.returned = known !== undefined;
      this.entry = known ?? crypto.randomUUID();
      if (!known) history.replaceState({ entry: this.entry }, "");
      this.parts = location.hash.startsWith("#/") ? location.hash.slice(2).split("/").filter(Boolean).map(decode) : [];
    };
    addEventListener("hashchange", read);
    read();
  }

  /** The part at a place, "" if there is none. */
  at(place: number): string {
    return this.parts[place] ?? "";
  }
}

/** What no address can hold stays as it is. */
function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export const route = new Route();

/** How far views were gone through, by the entries of the history. */
const places = new Map<string, unknown>();
export const remember = (place: unknown) => places.set(route.entry, place);

/** How far the view was gone through to which one has come back; undefined elsewhere. */
export const remembered = <T>() => (route.returned ? (places.get(route.entry) as T | undefined) : undefined);

/** The address of a place in the page. */
export const to = (...parts: string[]) => "#/" + parts.map(encodeURIComponent).join("/");

/** Goes to a place. Replaced, the one before is not gone back to. */
export function go(parts: string[], how: "pushed" | "replaced" = "pushed") {
  const hash = to(...parts);
  if (how === "replaced") location.replace(hash);
  else location.hash = hash;
}

/** Says later whether one is still where one is now: who has gone elsewhere while something was sent stays there. */
export function here(): () => boolean {
  const from = location.hash;
  return () => location.hash === from;
}

/** Where a session of runs is shown. */
export function placeOf(assistant: string, session: string): string[] {
  if (assistant === "inquiry") return ["inquiries", session];
  if (assistant === "tasks") return ["tasks", session];
  if (assistant.startsWith("council")) return ["council", ofRuns, session];
  return ["session", session];
}

/** What stands before the number of a task in a part of the address. */
export const ofTask = "of-task-";

/** The part of the address before a session of runs that is about one of the Council's. */
export const ofRuns = "of-runs";
