import type { components, paths } from "./schema";

/** Forms of the API, as its description names them. */
export type Form<Name extends keyof components["schemas"]> = components["schemas"][Name];

type Told = Partial<Form<"Problem">>;

/** Why a request was refused or could not be made (RFC 9457). `kind` is for programs; `told` is all that the server says. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    readonly kind: string,
    detail: string,
    readonly told: Told = {},
  ) {
    super(detail);
  }

  /** The same would be refused again: neither the server nor who asks is away or busy, and all of it arrived. */
  get isFinal(): boolean {
    return this.status >= 400 && this.status < 500 && ![401, 408, 429].includes(this.status) && this.kind !== "broken_body";
  }

  /** What a person can read. */
  get words(): string {
    return [this.message, this.told.hint].filter(Boolean).join(" ");
  }
}

/** The status of a request that reached no server. */
export const unreachable = 0;

/** Who listens is told when the server no longer knows who asks. */
let signedOut: (() => void) | undefined;
export const onSignedOut = (tell: () => void) => (signedOut = tell);

/** Who asks the person is told when a run would go over the day's limit of costs; true: it begins all the same. */
let agreed: ((costs: Told) => Promise<boolean>) | undefined;
export const onOverLimit = (ask: (costs: Told) => Promise<boolean>) => (agreed = ask);

type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** What a request carries besides its address. A key lets a POST be sent again without being done twice. */
export interface Sent {
  body?: unknown;
  key?: string;
  signal?: AbortSignal;
  /** How long it may take, in ms. */
  patience?: number;
  /** The person has agreed to go over the day's limit of costs. */
  overLimit?: boolean;
}

const patience = 30_000;

async function request(method: Method, path: string, sent: Sent): Promise<Response> {
  const headers: Record<string, string> = { Accept: "application/json" };
  const init: RequestInit = { method, headers, signal: AbortSignal.any([AbortSignal.timeout(sent.patience ?? patience), ...(sent.signal ? [sent.signal] : [])]) };
  if (sent.body instanceof Blob) {
    init.body = sent.body;
    headers["Content-Type"] = sent.body.type || "application/octet-stream";
  } else if (sent.body !== undefined) {
    init.body = JSON.stringify(sent.body);
    headers["Content-Type"] = "application/json";
  }
  if (sent.key) headers["Idempotency-Key"] = sent.key;
  if (sent.overLimit) headers["Over-Limit"] = "true";
  try {
    return await fetch(path, init);
  } catch (cause) {
    if (sent.signal?.aborted) throw cause;
    throw new Refusal(unreachable, "unreachable", "");
  }
}

async function refused(answer: Response): Promise<Refusal> {
  const told = (await answer.json().catch(() => ({}))) as Told;
  return new Refusal(answer.status, told.kind ?? "", told.detail ?? answer.statusText, told);
}

/** How often a request that reads is sent again where the server is asked for too much at once. */
const mostTries = 5;

/** Sends a request and gives the JSON of its answer, or undefined for one without a body. Throws a Refusal. */
export async function send<T>(method: Method, path: string, sent: Sent = {}): Promise<T> {
  let answer = await request(method, path, sent);
  // Who asks for much at once is told when to ask again. What only reads does so by itself.
  for (let tries = 0; method === "GET" && answer.status === 429 && tries < mostTries; tries++) {
    await new Promise((done) => setTimeout(done, 1000 * Math.min(10, Number(answer.headers.get("Retry-After")) || 1)));
    answer = await request(method, path, sent);
  }
  if (answer.status === 401) signedOut?.();
  if (!answer.ok) {
    const refusal = await refused(answer);
    const asks = refusal.kind === "over_limit" && !sent.overLimit;
    if (asks && (await agreed?.(refusal.told))) return send(method, path, { ...sent, overLimit: true });
    throw refusal;
  }
  const text = await answer.text().catch(() => Promise.reject(new Refusal(unreachable, "unreachable", ""))); // it broke off
  return (text ? JSON.parse(text) : undefined) as T;
}

type Answer<P, M extends string> = P extends { [K in M]: { responses: infer R } }
  ? { [S in keyof R & (200 | 201 | 202)]: R[S] extends { content: { "application/json": infer T } } ? T : undefined }[keyof R & (200 | 201 | 202)]
  : never;

/** Reads what a route gives; `path` is one of the description, and `values` stand in place of its parameters and behind its question mark. */
export function get<P extends keyof paths & string>(path: P, values: Record<string, string | number | boolean | undefined> = {}, signal?: AbortSignal): Promise<Answer<paths[P], "get">> {
  return send("GET", address(path, values), signal ? { signal } : {});
}

/** The address of a route, with values in place of its parameters and the others as its query. */
export function address(path: string, values: Record<string, string | number | boolean | undefined> = {}): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    const place = `{${name}}`;
    if (path.includes(place)) path = path.replace(place, encodeURIComponent(String(value)));
    else if (value !== undefined && value !== "") query.set(name, String(value));
  }
  return query.size ? `${path}?${query}` : path;
}
