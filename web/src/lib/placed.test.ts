import { expect, test } from "vitest";
import { Refusal } from "./api";
import { eachOf } from "./placed";

const refuses = (status: number) => () => Promise.reject(new Refusal(status, "", ""));

test.each([[0, ["a", "b"]], [429, ["a", "b"]], [503, ["a", "b"]], [404, ["a"]]])("after a refusal with %i of one that was there, these are there: %j", async (status, left) => {
  const before = [{ id: "b", title: "former" }];
  const found = await eachOf(["a", "b", "new"], before, (id) => (id === "a" ? Promise.resolve({ id, title: "now" }) : refuses(status)()));
  expect(found.map((one) => one.id)).toEqual(left);
});

test("what was ended by whoever asked fails whole", async () => {
  await expect(eachOf(["a"], [], () => Promise.reject(new DOMException("", "AbortError")))).rejects.toThrow(DOMException);
});
