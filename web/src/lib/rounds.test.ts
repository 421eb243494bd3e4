import { expect, test } from "vitest";
import type { Form } from "./api";
import { earlierRounds } from "./rounds";

const answer = (sequence: number, oracle_id: string, round: number, second: number, kind?: string) =>
  ({ sequence, oracle_id, round, created_at: new Date(second * 1000).toISOString(), ...(kind ? { kind } : {}) }) as Form<"CouncilAnswer">;
const sitting = (from: number, to: number, rounds: Record<string, number>) =>
  ({
    run: { started_at: new Date(from * 1000).toISOString(), ended_at: new Date(to * 1000).toISOString() },
    oracles: Object.keys(rounds).map((id) => ({ id })),
    answers: Object.entries(rounds).map(([id, round]) => ({ oracle: { id }, round })),
  }) as Form<"CouncilSitting">;

test("the rounds before the last of a sitting are those of its oracles and of its time", () => {
  const all = [answer(1, "a", 1, 5), answer(2, "a", 1, 11), answer(3, "b", 1, 12), answer(4, "a", 2, 13), answer(5, "b", 2, 14), answer(6, "a", 1, 15, "chair"), answer(7, "c", 1, 12), answer(8, "a", 1, 25)];
  expect(earlierRounds(sitting(10, 20, { a: 2, b: 2 }), all).map((a) => a.sequence)).toEqual([2, 3]);
  expect(earlierRounds(sitting(10, 20, { a: 1 }), all)).toEqual([]);
  expect(earlierRounds(sitting(0, 9, { a: 0 }), all)).toEqual([]);
});
