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
    this.look();
    if (!this.#kept.since) this.#save(() => ({ since: new Date().toISOString() }));
  }

  /** Reads what another tab has kept meanwhile. */
  look() {
    try {
      Object.assign(this.#kept, JSON.parse(kept(this.#name) || "{}"));
    } catch {
      // What is damaged begins anew.
    }
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
    this.#save(({ pins }) => {
      const others = pins.filter((one) => one !== id);
      return { pins: yes ? [id, ...others] : others };
    });
  }

  /** Puts it into a folder, which is there from then on; "" takes it out. */
  put(id: string, folder: string) {
    this.#save(({ folders: { [id]: _, ...others } }) => ({ folders: folder.trim() ? { ...others, [id]: folder.trim() } : others }));
  }

  /** Gives a folder another name: that of another one joins them, and "" takes everything out of it. */
  rename(folder: string, name: string) {
    const to = name.trim();
    this.#save(({ folders }) => ({
      folders: Object.fromEntries(Object.entries(folders).map(([id, of]) => [id, of === folder ? to : of]).filter(([, of]) => of)),
    }));
  }

  /** All that have a place of their own, though they may be older than what a list begins with. */
  get placed(): string[] {
    return [...new Set([...this.#kept.pins, ...Object.keys(this.#kept.folders)])];
  }

  /** Whether something happened in it that was not seen here. */
  unread = (id: string, usedAt: string) => usedAt > (this.#kept.seen[id] ?? this.#kept.since);

  see(id: string, usedAt: string) {
    if (!this.unread(id, usedAt)) return;
    this.#save(({ seen: { [id]: _, ...others } }) => ({ seen: Object.fromEntries([...Object.entries(others), [id, usedAt]].slice(-mostSeen)) }));
  }

  /** What is gone is in no order. */
  forget(id: string) {
    this.pin(id, false);
    this.put(id, "");
  }

  get #name() {
    return "shelf." + this.user;
  }

  #save(change: (kept: Kept) => Partial<Kept>) {
    this.look();
    Object.assign(this.#kept, change(this.#kept));
    keep(this.#name, JSON.stringify(this.#kept));
  }
}
