import { expect, test } from "vitest";
import { Refusal } from "./api";
import { checksum, deliver, type Ways } from "./delivery";
import { parts } from "./pieces";

const piece = (n: number) => new Blob([`piece ${n}`]);

/** A server that keeps pieces, and a browser that has so many. */
function play(all: number, has: string[] = []) {
  const asked: string[] = [];
  const server = { has, made: 0, lost: 0 };
  const standing = () => ({ pieces: server.has.length, ...(server.made ? { entry: server.made } : {}) });
  const ways: Ways = {
    seal: async () => all,
    piece: async (n) => piece(n),
    standing: async () => (asked.push("standing"), standing()),
    send: async (n, blob) => {
      asked.push(`send ${n}`);
      if (server.made) return standing();
      if (n !== server.has.length + 1) throw new Refusal(409, "pieces", "");
      server.has.push(await blob.text());
      if (server.lost-- > 0) throw new Refusal(0, "unreachable", "");
      return standing();
    },
    finish: async (n) => {
      asked.push(`finish ${n}`);
      if (n > server.has.length) throw new Refusal(409, "pieces", "");
      server.made = 1;
      return standing();
    },
  };
  return { asked, server, ways };
}

test("a recording is sent from where the server stands, and made at its end", async () => {
  const { asked, server, ways } = play(3, ["piece 1"]);
  expect(await deliver(ways, false)).toEqual({ pieces: 3 });
  expect(asked).toEqual(["standing", "send 2", "send 3"]);
  expect((await deliver(ways, true, { pieces: 3 })).entry).toBe(1);
  expect(asked.slice(3)).toEqual(["finish 3"]);
  expect(server.has).toEqual(["piece 1", "piece 2", "piece 3"]);
});

test("after an answer that was lost each piece is there once", async () => {
  const { server, ways } = play(3);
  server.lost = 1;
  await expect(deliver(ways, true)).rejects.toMatchObject({ kind: "unreachable" });
  expect((await deliver(ways, true)).entry).toBe(1);
  expect(server.has).toEqual(["piece 1", "piece 2", "piece 3"]);
});

test("what another tab has sent or made is not sent again", async () => {
  const { asked, server, ways } = play(3, ["piece 1", "piece 2"]);
  expect(await deliver(ways, false, { pieces: 1 })).toEqual({ pieces: 3 });
  expect(asked).toEqual(["send 2", "standing", "send 3"]);
  server.made = 4;
  expect(await deliver(ways, true)).toMatchObject({ entry: 4 });
});

test("pieces that the server has removed are sent anew", async () => {
  const { server, ways } = play(2);
  expect((await deliver(ways, true, { pieces: 2 })).entry).toBe(1);
  expect(server.has).toEqual(["piece 1", "piece 2"]);
});

test("a recording of nothing is over without a request to make it", async () => {
  const { asked, ways } = play(0);
  expect((await deliver(ways, true)).entry).toBe(0);
  expect(asked).toEqual(["standing"]);
});

test("a server that never agrees is an error", async () => {
  const { ways } = play(1);
  ways.send = async () => Promise.reject(new Refusal(409, "pieces", "two"));
  await expect(deliver(ways, true)).rejects.toMatchObject({ detail: "two" });
});

test("parts are the whole, each of the size that may be", async () => {
  const all = parts(new Blob(["0123456789"]), 4);
  expect(await Promise.all(all.map((p) => p.text()))).toEqual(["0123", "4567", "89"]);
  expect(parts(new Blob([]), 4)).toEqual([]);
});

test("a checksum has the form that the server takes", async () => {
  expect(await checksum(new Blob(["abc"]))).toBe("sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
});
