// Package rules is the detective that needs no language model: what answers leave open, where they contradict each other, and what to ask next,
// in English and German.
//
// Guarantees:
//   - A rule only suspects. A clash opens a gap and a question that names both answers; it is a contradiction when the reply to that question
//     leaves both standing. Of a finished interview, where nobody is there to ask, only what is firm is recorded: see Finished.
//   - Precision before recall: where subject, time, unit or polarity are not bound, the rules say nothing.
//   - Whatever is quoted was said, word for word.
//   - What an answer leaves open is judged by weights that labelled interviews taught, in training; what the rules say is one sign among others there.
//   - The closed classes of words, and all that a person reads, are data, one file a language.
//   - Equal input gives equal output. The work for a further exchange depends on its length and hardly on those before it. No text makes it panic.
package rules
