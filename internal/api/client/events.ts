import type { ReadableStream } from "node:stream/web";
import type { StreamEvent } from "./api.js";

/** Reads server-sent events as they come. Comments are left out. */
export async function* events(body: ReadableStream<Uint8Array>): AsyncGenerator<StreamEvent> {
  let rest = "";
  for await (const text of body.pipeThrough(new TextDecoderStream())) {
    const blocks = (rest + text).split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      const fields = new Map(block.split("\n").map((line) => line.split(/: (.*)/s, 2) as [string, string]));
      const data = fields.get("data");
      if (data !== undefined) {
        yield { event: fields.get("event"), id: fields.get("id"), data: JSON.parse(data) } as StreamEvent;
      }
    }
  }
}
