/** A recording that this browser keeps until the server has it whole. */
export interface Kept {
  id: string;
  user: string;
  /** The session of the Council to which it belongs; "" if it is dictated. */
  session: string;
  /** The field that takes its words. Left out: it goes to its session as it is. */
  field?: string;
  at: string;
  type: string;
  /** It is whole: its person has ended it. */
  ended: boolean;
}

const name = "sibyl-recordings";
const version = 3;

function open(): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const asked = indexedDB.open(name, version);
    asked.onupgradeneeded = () => {
      const [db, names] = [asked.result, [...asked.result.objectStoreNames]];
      if (!names.includes("recordings")) db.createObjectStore("recordings", { keyPath: "id" });
      if (!names.includes("sounds")) db.createObjectStore("sounds", { keyPath: ["recording", "number"] });
      if (names.includes("pieces")) join(asked.transaction!);
    };
    asked.onsuccess = () => resolve(asked.result);
    asked.onerror = () => reject(asked.error ?? new Error("IndexedDB"));
  });
}

/** Puts the pieces that an earlier page kept before the sounds of their recordings. */
function join(t: IDBTransaction) {
  const pieces = t.objectStore("pieces").getAll() as IDBRequest<{ recording: string; number: number; data: Blob }[]>;
  pieces.onsuccess = () => {
    for (const p of pieces.result) t.objectStore("sounds").put({ ...p, number: p.number - 1e9 });
    t.db.deleteObjectStore("pieces");
  };
}

type Store = "recordings" | "sounds";

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
const of = (id: string) => IDBKeyRange.bound([id, -Number.MAX_SAFE_INTEGER], [id, Number.MAX_SAFE_INTEGER]);

export const keepRecording = (one: Kept) => within(["recordings"], "readwrite", (t) => t.objectStore("recordings").put(one));

export const keepSound = (recording: string, number: number, data: Blob) => within(["sounds"], "readwrite", (t) => t.objectStore("sounds").put({ recording, number, data }));

/** The recordings of a user, oldest first: those for a field, or those that go to sessions. */
export async function keptRecordings(user: string, field?: string): Promise<Kept[]> {
  const all = (await within(["recordings"], "readonly", (t) => t.objectStore("recordings").getAll() as IDBRequest<Kept[]>)) ?? [];
  return all.filter((r) => r.user === user && r.field === field).sort((a, b) => a.at.localeCompare(b.at));
}

/** All that was recorded; nothing of a recording that is not kept any more. */
export async function soundOf({ id, type }: Kept): Promise<Blob> {
  const all = (await within(["sounds"], "readonly", (t) => t.objectStore("sounds").getAll(of(id)) as IDBRequest<{ data: Blob }[]>)) ?? [];
  return new Blob(
    all.map((s) => s.data),
    { type },
  );
}

export const forget = (id: string) =>
  within(["recordings", "sounds"], "readwrite", (t) => {
    t.objectStore("recordings").delete(id);
    t.objectStore("sounds").delete(of(id));
    return undefined;
  });
