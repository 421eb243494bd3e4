/** What an inquiry is begun with, as far as it can be wrong. */
export interface Draft {
  hypothesis: string;
  /** The witness are documents that are attached. */
  own: boolean;
  documents: number;
  reading: boolean;
  /** How many questions at most; undefined: no number is there. */
  limit: number | null | undefined;
}

export const least = 5;
export const most = 20;
/** How long a hypothesis may be, in characters. */
export const longest = 4000;

/** What is wrong in each field. */
export interface Lacks {
  hypothesis?: "hypothesis" | "long";
  witness?: "documents" | "reading";
  limit?: "limit";
}

/** What has to be mended before an inquiry can begin; nothing: it can. */
export function lacksOf({ hypothesis, own, documents, reading, limit }: Draft): Lacks {
  const words = [...hypothesis.trim()].length;
  return {
    ...(!words ? { hypothesis: "hypothesis" as const } : words > longest ? { hypothesis: "long" as const } : {}),
    ...(own && reading ? { witness: "reading" as const } : own && !documents ? { witness: "documents" as const } : {}),
    ...(!Number.isInteger(limit) || limit! < least || limit! > most ? { limit: "limit" as const } : {}),
  };
}
