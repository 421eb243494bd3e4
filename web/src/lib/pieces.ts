/** A recording that this browser keeps until the server has it. */
export interface Kept {
  id: string;
  /** Whose it is, and where it belongs. */
  user: string;
  session: string;
  at: string;
  type: string;
  /** It is whole: its person has ended it. */
  ended: boolean;
}

const name = "sibyl-recordings";
const version = 1;

function open(): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const asked = indexedDB.open(name, version);
    asked.onupgradeneeded = () => {
      asked.result.createObjectStore("recordings", { keyPath: "id" });
      asked.result.createObjectStore("pieces", { keyPath: ["recording", "number"] });
    };
    asked.onsuccess = () => resolve(asked.result);
    asked.onerror = () => reject(asked.error ?? new Error("IndexedDB"));
  });
}

type Stores = ("recordings" | "pieces")[];

/** Does something in one transaction, which is on the disk when the promise is kept. */
async function within<T>(stores: Stores, mode: IDBTransactionMode, act: (t: IDBTransaction) => IDBRequest<T> | undefined): Promise<T | undefined> {
  const db = await open();
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

/** All pieces of a recording. */
const of = (id: string) => IDBKeyRange.bound([id, 0], [id, Number.MAX_SAFE_INTEGER]);

export const keepRecording = (one: Kept) => within(["recordings"], "readwrite", (t) => t.objectStore("recordings").put(one));

export const keepPiece = (recording: string, number: number, data: Blob) => within(["pieces"], "readwrite", (t) => t.objectStore("pieces").put({ recording, number, data }));

/** The recordings of a user in a session, oldest first. */
export async function keptRecordings(user: string, session: string): Promise<Kept[]> {
  const all = (await within(["recordings"], "readonly", (t) => t.objectStore("recordings").getAll() as IDBRequest<Kept[]>)) ?? [];
  return all.filter((r) => r.user === user && r.session === session).sort((a, b) => a.at.localeCompare(b.at));
}

/** A recording as far as it was kept. */
export async function whole(one: Kept): Promise<Blob> {
  const pieces = (await within(["pieces"], "readonly", (t) => t.objectStore("pieces").getAll(of(one.id)) as IDBRequest<{ data: Blob }[]>)) ?? [];
  return new Blob(
    pieces.map((p) => p.data),
    { type: one.type },
  );
}

export const forget = (id: string) =>
  within(["recordings", "pieces"], "readwrite", (t) => {
    t.objectStore("recordings").delete(id);
    t.objectStore("pieces").delete(of(id));
    return undefined;
  });
