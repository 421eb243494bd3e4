export const groups = ["today", "yesterday", "week", "month", "older"] as const;
export type Group = (typeof groups)[number];

/** How long ago a day was, in the parts of a list: by the days of who reads it, not by hours. */
export function groupOf(at: Date, now: Date): Group {
  const midnight = (day: Date) => new Date(day.getFullYear(), day.getMonth(), day.getDate()).getTime();
  const days = Math.round((midnight(now) - midnight(at)) / 86_400_000); // a day on which the clock is changed has 23 or 25 hours
  return days < 1 ? "today" : days < 2 ? "yesterday" : days < 7 ? "week" : days < 30 ? "month" : "older";
}
