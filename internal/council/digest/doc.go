// Package digest answers for the Council where no language model does: it sorts by rules what a person said aloud, and compares what several
// oracles answered.
//
// Guarantees:
//   - Nothing is invented. Every sentence in quotation marks was said, word for word; only its ends are trimmed, and a very long one is cut where “…”
//     stands. Whatever is listed as more than a sentence says why: the word, the figure, the kind.
//   - A digest says in its first line that it was made by rules, and never speaks as the persona.
//   - Precision before recall: what the rules are not sure of is left out, and an empty list says so.
//   - The closed classes of words, and all that a person reads, are data, one file a language; what no file knows is Portuguese.
//   - Equal input gives equal output. The work grows with the length of the text and no faster. No text makes it panic.
package digest
