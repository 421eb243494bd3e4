import { expect, test } from "vitest";
import { Paged } from "./paged.svelte";

/** A list of numbers in parts of two, the greatest first. */
function numbers(most: { n: number }) {
  return new Paged(
    async (after: number | undefined) => {
      const from = after ?? most.n;
      const items = [from, from - 1].filter((n) => n > 0);
      return { items, next: from > 2 ? from - 2 : undefined };
    },
    (n) => n,
  );
}

test("parts come one after another until there is no next", async () => {
  const list = numbers({ n: 5 });
  await list.load();
  expect([list.items, list.next]).toEqual([[5, 4], 3]);
  await list.more();
  await list.more();
  expect([list.items, list.next]).toEqual([[5, 4, 3, 2, 1], undefined]);
});

test("a look at the first part keeps what was fetched behind it, each item once", async () => {
  const most = { n: 5 };
  const list = numbers(most);
  await list.load();
  await list.more();
  most.n = 7;
  await list.look();
  expect([list.items, list.next]).toEqual([[7, 6, 5, 4, 3, 2], 1]);
});

test("a look at a list of which only the first part is there fetches that part anew", async () => {
  const most = { n: 5 };
  const list = numbers(most);
  await list.load();
  most.n = 7;
  await list.look();
  expect([list.items, list.next]).toEqual([[7, 6], 5]);
});

test("loaded anew it begins with its first part", async () => {
  const list = numbers({ n: 5 });
  await list.load();
  await list.more();
  await list.load();
  expect([list.items, list.next]).toEqual([[5, 4], 3]);
});

test("a part that fails is told of, and what is there stays", async () => {
  let broken = false;
  const list = new Paged(
    async (after: number | undefined) => {
      if (broken) throw new Error("the line is cut");
      return { items: [after ?? 2], next: 1 };
    },
    (n) => n,
  );
  await list.load();
  broken = true;
  await list.more();
  expect([list.items, list.stuck?.words]).toEqual([[2], "the line is cut"]);
});
