import { expect, test } from "vitest";
import { face } from "./portrait";

test("an oracle has the same face everywhere, and others have others", () => {
  const ids = ["skeptic", "optimist", "pragmatist", "historian", "visionary", "philosopher", "listener", "devils-advocate"];
  expect(face("skeptic")).toEqual(face("skeptic"));
  expect(new Set(ids.map((id) => JSON.stringify(face(id)))).size).toBe(ids.length);
});
