/** Brings an answer of the board to the person's eyes, and the keyboard to it; with where it stands in the documents, if that is what was asked for. */
export function toAnswer(number: number, withPlaces = false) {
  const one = document.getElementById(`answer-${number}`);
  if (withPlaces) one?.querySelector("details")?.setAttribute("open", "");
  one?.scrollIntoView({ block: "center" });
  one?.focus({ preventScroll: true });
}
