/** Brings an answer of the board to the person's eyes, and the keyboard to it. */
export function toAnswer(number: number) {
  const one = document.getElementById(`answer-${number}`);
  one?.scrollIntoView({ block: "center" });
  one?.focus({ preventScroll: true });
}
