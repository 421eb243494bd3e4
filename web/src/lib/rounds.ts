import type { Form } from "./api";

/** The answers of a session that a sitting led to and does not show: those of the rounds before its last. */
export function earlierRounds(sitting: Form<"CouncilSitting">, all: readonly Form<"CouncilAnswer">[]): Form<"CouncilAnswer">[] {
  const { run, oracles, answers } = sitting;
  const last = new Map(answers.map((a) => [a.oracle.id, a]));
  const within = (at: string) => Date.parse(at) >= Date.parse(run.started_at) && (!run.ended_at || Date.parse(at) <= Date.parse(run.ended_at));
  return all.filter((a) => !a.kind && oracles.some((o) => o.id === a.oracle_id) && (a.round ?? 0) < (last.get(a.oracle_id)?.round ?? 0) && within(a.created_at));
}
