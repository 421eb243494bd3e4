/** A recording that this browser keeps until the server has made one of it. */
export interface Kept {
  id: string;
  /** Whose it is, and where it belongs. */
  user: string;
  session: string;
  at: string;
  type: string;
  /** It is whole: its person has ended it. */
  ended: boolean;
  /** What it is called on the server, where that is not its id: a part of it was made a recording elsewhere, and it goes there anew. */
  as?: string;
}

const name = "sibyl-recordings";
const version = 2;

/** How many bytes a piece has at most. */
const mostPiece = 1 << 20;

function open(): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const asked = indexedDB.open(name, version);
    asked.onupgradeneeded = ({ oldVersion }) => {
      if (oldVersion < 1) {
        asked.result.createObjectStore("recordings", { keyPath: "id" });
        asked.result.createObjectStore("pieces", { keyPath: ["recording", "number"] });
      }
      asked.result.createObjectStore("sounds", { keyPath: ["recording", "number"] }); // that are in no piece yet
    };
    asked.onsuccess = () => resolve(asked.result);
    asked.onerror = () => reject(asked.error ?? new Error("IndexedDB"));
  });
}

type Store = "recordings" | "pieces" | "sounds";

/** Does something in one transaction, which is on the disk when the promise is kept. */
async function within<T>(stores: Store[], mode: IDBTransactionMode, act: (t: IDBTransaction) => { result: T } | undefined): Promise<T | undefined> {
  const db = await open();
  db.onversionchange = () => db.close();
  try {
    return await new Promise((resolve, reject) => {
      const t = db.transaction(stores, mode, { durability: "strict" });
      const asked = act(t);
      t.oncomplete = () => resolve(asked?.result);
      t.onabort = t.onerror = () => reject(t.error ?? new Error("IndexedDB"));
    });
  } finally {
    db.close();
  }
}

/** All that is kept of a recording. */
const of = (id: string) => IDBKeyRange.bound([id, 0], [id, Number.MAX_SAFE_INTEGER]);

export const keepRecording = (one: Kept) => within(["recordings"], "readwrite", (t) => t.objectStore("recordings").put(one));

export const keepSound = (recording: string, number: number, data: Blob) => within(["sounds"], "readwrite", (t) => t.objectStore("sounds").put({ recording, number, data }));

/** The recordings of a user, oldest first. */
export async function keptRecordings(user: string): Promise<Kept[]> {
  const all = (await within(["recordings"], "readonly", (t) => t.objectStore("recordings").getAll() as IDBRequest<Kept[]>)) ?? [];
  return all.filter((r) => r.user === user).sort((a, b) => a.at.localeCompare(b.at));
}

/** Parts of a whole, each of so many bytes but the last. */
export function parts(whole: Blob, most: number): Blob[] {
  return Array.from({ length: Math.ceil(whole.size / most) }, (_, i) => whole.slice(i * most, (i + 1) * most));
}

/** Makes pieces of what was recorded since the last of them. A piece stays as it is. Gives how many there are. */
export async function seal(id: string): Promise<number> {
  const sealed = await within(["sounds", "pieces"], "readwrite", (t) => {
    const pieces = t.objectStore("pieces");
    const sounds = t.objectStore("sounds");
    const count = pieces.count(of(id));
    const all = sounds.getAll(of(id)) as IDBRequest<{ data: Blob }[]>;
    const so = { result: 0 };
    all.onsuccess = () => {
      so.result = count.result;
      for (const data of parts(new Blob(all.result.map((s) => s.data)), mostPiece)) pieces.put({ recording: id, number: so.result++, data });
      sounds.delete(of(id));
    };
    return so;
  });
  return sealed ?? 0;
}

/** How many bytes all pieces of a recording have. */
export async function sizeOf(id: string): Promise<number> {
  const all = (await within(["pieces"], "readonly", (t) => t.objectStore("pieces").getAll(of(id)) as IDBRequest<{ data: Blob }[]>)) ?? [];
  return all.reduce((sum, p) => sum + p.data.size, 0);
}

/** A piece of a recording; they are counted from 1 on. */
export async function pieceOf(id: string, number: number): Promise<Blob> {
  const found = await within(["pieces"], "readonly", (t) => t.objectStore("pieces").get([id, number - 1]) as IDBRequest<{ data: Blob } | undefined>);
  if (!found) throw new Error("IndexedDB");
  return found.data;
}

export const forget = (id: string) =>
  within(["recordings", "pieces", "sounds"], "readwrite", (t) => {
    t.objectStore("recordings").delete(id);
    t.objectStore("pieces").delete(of(id));
    t.objectStore("sounds").delete(of(id));
    return undefined;
  });
