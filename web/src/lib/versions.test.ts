import { expect, test } from "vitest";
import { versionsOf } from "./versions";

const ids = (rows: { id: string; replaces?: string }[]) => versionsOf(rows).map((v) => v.map((r) => r.id).join(" "));

test("what takes a place stands behind what had it, and nothing else does", () => {
  expect(ids([{ id: "a" }, { id: "b", replaces: "a" }, { id: "c", replaces: "b" }, { id: "d" }])).toEqual(["a b c", "d"]);
});

test("what takes the place of one that is not there, or stands elsewhere, stands for itself", () => {
  expect(ids([{ id: "b", replaces: "a" }, { id: "c" }, { id: "d", replaces: "b" }])).toEqual(["b", "c", "d"]);
});
