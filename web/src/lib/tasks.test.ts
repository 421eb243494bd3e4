import { expect, test } from "vitest";
import { changedSince, didTo, wayOf } from "./tasks";

const task = { id: 1, title: "Buy milk", status: "pending" as const, created_at: "2026-11-22T10:00:00Z", version: 1 };
const change = { id: 1, task_id: 1, action: "update" as const, actor: "cli", at: "2026-11-22T10:00:00Z" };

test("a change is told by what differs between before and after", () => {
  expect(didTo({ ...change, action: "add", after: task })).toEqual([{ what: "added", title: "Buy milk" }]);
  expect(didTo({ ...change, action: "undo", after: task })).toEqual([{ what: "back", title: "Buy milk" }]);
  expect(didTo({ ...change, action: "delete", before: task })).toEqual([{ what: "deleted", title: "Buy milk" }]);
  expect(didTo({ ...change, before: task, after: { ...task, title: "Buy oats", description: "rolled", status: "completed" } })).toEqual([
    { what: "renamed", title: "Buy oats", old: "Buy milk" },
    { what: "described", title: "Buy oats" },
    { what: "completed", title: "Buy oats" },
  ]);
  expect(didTo({ ...change, before: { ...task, description: "x", status: "completed" }, after: task }).map((d) => d.what)).toEqual(["undescribed", "reopened"]);
});

test("the way of a change is told apart by who made it", () => {
  expect(wayOf("chat: r1")).toEqual({ way: "chat", name: "r1" });
  expect(wayOf("mcp: a: b")).toEqual({ way: "program", name: "a: b" });
  expect(wayOf("cli").way).toBe("cli");
  expect(wayOf("http").way).toBe("page");
  expect(wayOf("chat")).toEqual({ way: "other", name: "chat" });
});

test("a task is marked when it is new or of another version, and none is at first sight", () => {
  expect(changedSince(undefined, [task]).size).toBe(0);
  const seen = new Map([[1, 1]]);
  expect(changedSince(seen, [task]).size).toBe(0);
  expect([...changedSince(seen, [{ ...task, version: 2 }, { ...task, id: 2 }])]).toEqual([1, 2]);
});
