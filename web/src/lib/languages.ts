/** The languages of the page, in the order in which a key has its words. */
export const languages = { en: "English", de: "Deutsch", pt: "Português" } as const;
export type Language = keyof typeof languages;

/** Languages that are offered where one can be chosen; any other can be set by a program. */
export const known = ["ar", "cs", "da", "de", "en", "es", "fi", "fr", "he", "hi", "it", "ja", "ko", "nb", "nl", "pl", "pt", "ru", "sv", "tr", "uk", "zh"];

/** What a language is called in another one, or its code where the browser does not know. */
export function languageName(id: string, within: string): string {
  try {
    return new Intl.DisplayNames([within], { type: "language" }).of(id) ?? id;
  } catch {
    return id; // it is none
  }
}
