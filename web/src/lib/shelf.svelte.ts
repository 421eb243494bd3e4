import { keep, kept } from "./kept";

/** How many conversations are known as seen; the first of them go. */
const mostSeen = 500;

interface Kept {
  /** Pinned to the top, the last pinned first. */
  pins: string[];
  /** The folder of each that is in one. */
  folders: Record<string, string>;
  /** When each was used that was seen here, as of then. */
  seen: Record<string, string>;
  /** What was used before counts as seen. */
  since: string;
}

/** How a person has put their conversations in order in this browser, and which they have seen. */
export class Shelf {
  #kept = $state<Kept>({ pins: [], folders: {}, seen: {}, since: "" });

  constructor(private readonly user: string) {
    const name = this.#name;
    try {
      Object.assign(this.#kept, JSON.parse(kept(name) || "{}"));
    } catch {
      // What is damaged begins anew.
    }
    if (!this.#kept.since) this.#save({ since: new Date().toISOString() });
  }

  get pins(): readonly string[] {
    return this.#kept.pins;
  }

  /** All folders that have something in them, by the alphabet. */
  get folders(): string[] {
    return [...new Set(Object.values(this.#kept.folders))].sort((a, b) => a.localeCompare(b));
  }

  folderOf = (id: string) => this.#kept.folders[id] ?? "";

  pin(id: string, yes: boolean) {
    const others = this.#kept.pins.filter((one) => one !== id);
    this.#save({ pins: yes ? [id, ...others] : others });
  }

  /** Puts it into a folder, which is there from then on; "" takes it out. */
  put(id: string, folder: string) {
    const { [id]: _, ...others } = this.#kept.folders;
    this.#save({ folders: folder.trim() ? { ...others, [id]: folder.trim() } : others });
  }

  /** Whether something happened in it that was not seen here. */
  unread = (id: string, usedAt: string) => usedAt > (this.#kept.seen[id] ?? this.#kept.since);

  see(id: string, usedAt: string) {
    if (!this.unread(id, usedAt)) return;
    const { [id]: _, ...others } = this.#kept.seen;
    this.#save({ seen: Object.fromEntries([...Object.entries(others), [id, usedAt]].slice(-mostSeen)) });
  }

  /** What is gone is in no order. */
  forget(id: string) {
    this.pin(id, false);
    this.put(id, "");
  }

  get #name() {
    return "shelf." + this.user;
  }

  #save(changed: Partial<Kept>) {
    Object.assign(this.#kept, changed);
    keep(this.#name, JSON.stringify(this.#kept));
  }
}
