import assert from "node:assert/strict";
import type { ReadableStream } from "node:stream/web";
import type { Problem, StreamEvent } from "./api.js";
import { events } from "./events.js";

/** What openapi-fetch gives for a request. */
export type Answer<T> = { data?: T; error?: Problem; response: Response };

/** What a request gave that must have succeeded. */
export async function given<T>(answer: Promise<Answer<T>>): Promise<T> {
  const { data, error, response } = await answer;
  assert.equal(error, undefined, `${response.url} answers ${response.status}: ${JSON.stringify(error)}`);
  return data as T;
}

/** The problem for which a request must have been refused. */
export async function refused(answer: Promise<Answer<unknown>>, status: number, kind: string): Promise<Problem> {
  const { error, response } = await answer;
  assert.ok(error, `${response.url} answers ${response.status} where ${status} ${kind} is right`);
  assert.deepEqual([response.status, error.status, error.kind, error.type], [status, status, kind, "about:blank"]);
  assert.equal(response.headers.get("Content-Type"), "application/problem+json");
  assert.ok(response.headers.get("X-Request-Id"));
  assert.match(error.detail, /^[A-Z].*\.$/);
  return error;
}

/** The events of a stream that is asked for with parseAs: "stream". */
export async function* told(answer: Promise<Answer<unknown>>): AsyncGenerator<StreamEvent> {
  yield* events((await given(answer)) as ReadableStream<Uint8Array>);
}

export async function collected<T>(all: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const one of all) {
    list.push(one);
  }
  return list;
}
