import type { Form } from "./api";

type Setting = Form<"Setting">;
export type Value = Pick<Setting, "text" | "list" | "names">;

/** The parts of the set-up, in the order in which they are shown. */
export const parts = ["models", "folders", "answers", "web", "voice"] as const;

/** A value as its field has it: an entry of a list, and a name with its value, are a line each. */
export const inField = ({ text = "", list = [], names = {} }: Value): string =>
  text || [...list, ...Object.entries(names).map(([name, value]) => `${name}: ${value}`)].join("\n");

/** What a field says, as it is sent; undefined for nothing, which takes the setting out of the file. */
export function ofField(form: Setting["form"], text: string): Value | undefined {
  const lines = text.split("\n").map((line) => line.trim()).filter(Boolean);
  if (!lines.length) return undefined;
  if (form === "list") return { list: lines };
  if (form !== "names") return { text: form === "text" ? text.trim() : lines.join(" ") };
  return { names: Object.fromEntries(lines.map((line) => {
    const at = line.indexOf(":");
    return at < 0 ? [line, ""] : [line.slice(0, at).trim(), line.slice(at + 1).trim()];
  })) };
}

/** Whose it is, where it is that of a provider, and the key of its words. */
export function named(name: string): { provider: string; words: string } {
  const [section, provider, ...rest] = name.split(".");
  return section === "providers" && rest.length ? { provider: provider!, words: `setup.of.provider.${rest.join(".")}` } : { provider: "", words: `setup.of.${name}` };
}
