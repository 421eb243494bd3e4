import { spoken } from "./words.svelte";

const units = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
] as const;

/** How long ago a time was, in its largest unit, in the language of the page: 5 minutes ago. */
export function since(at: string, now = Date.now()): string {
  const passed = Math.max(0, (now - Date.parse(at)) / 1000);
  const [unit, long] = units.find(([, long]) => passed >= long) ?? ["second", 1];
  return new Intl.RelativeTimeFormat(spoken(), { numeric: "auto" }).format(-Math.floor(passed / long), unit);
}

/** Acts from time to time, in ms, while the page is looked at, until the function that it returns is called. */
export function often(ms: number, act: () => void): () => void {
  const timer = setInterval(() => {
    if (!document.hidden) act();
  }, ms);
  return () => clearInterval(timer);
}
