import type { Form } from "./api";

/** A day of a plot, with what each model cost; models that have no price cost nothing here. */
export interface Bar {
  day: string;
  runs: number;
  cost: number;
  tokens: number;
  /** Whether something of it has a price. */
  priced: boolean;
  /** How much each model has of the highest day, from 0 to 1, in the order of the models. */
  parts: number[];
}

export interface Spent {
  /** The dearest first, or those that took the most tokens where nothing has a price. */
  models: { model: string; cost: number; tokens: number; priced: boolean }[];
  bars: Bar[];
  cost: number;
  tokens: number;
  /** The models that are not in the cost, as they have no known price. */
  unpriced: string[];
}

type Usage = Form<"CostOfDay">["used"][number];
const tokensOf = (u: Usage) => u.input_tokens + u.output_tokens;

/** Costs by day and model, for each of the days that end with a last one, the first of them first. */
export function spentBy(days: readonly Form<"CostOfDay">[], last: Date, many: number): Spent {
  const models = new Map<string, Spent["models"][number]>();
  for (const u of days.flatMap((d) => d.used)) {
    const model = u.model ?? "";
    const one = models.get(model) ?? { model, cost: 0, tokens: 0, priced: true };
    models.set(model, { model, cost: one.cost + (u.cost ?? 0), tokens: one.tokens + tokensOf(u), priced: one.priced && u.cost !== undefined });
  }
  const cost = [...models.values()].reduce((sum, m) => sum + m.cost, 0);
  const tokens = [...models.values()].reduce((sum, m) => sum + m.tokens, 0);
  const all = [...models.values()].sort((a, b) => b.cost - a.cost || b.tokens - a.tokens);
  const height = (u: Usage) => (cost ? (u.cost ?? 0) : tokensOf(u));
  const named = new Map(days.map((d) => [d.day, d]));
  const highest = Math.max(...days.map((d) => d.used.reduce((sum, u) => sum + height(u), 0)), 0) || 1;
  const bars = Array.from({ length: many }, (_, n) => {
    const at = new Date(last.getFullYear(), last.getMonth(), last.getDate() - (many - 1 - n));
    const day = [at.getFullYear(), at.getMonth() + 1, at.getDate()].map((part) => String(part).padStart(2, "0")).join("-");
    const used = named.get(day)?.used ?? [];
    return {
      day, runs: named.get(day)?.runs ?? 0,
      cost: used.reduce((sum, u) => sum + (u.cost ?? 0), 0), tokens: used.reduce((sum, u) => sum + tokensOf(u), 0),
      priced: used.some((u) => u.cost !== undefined),
      parts: all.map(({ model }) => used.filter((u) => (u.model ?? "") === model).reduce((sum, u) => sum + height(u), 0) / highest),
    };
  });
  return { models: all, bars, cost, tokens, unpriced: all.filter((m) => !m.priced).map((m) => m.model) };
}
