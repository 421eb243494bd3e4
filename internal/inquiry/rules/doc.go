// Package rules is the detective that needs no language model: what answers leave open, where they contradict each other, and what to ask next,
// in English and German.
//
// Guarantees:
//   - A clash is only suspected: by models that were trained with the labelled interviews in training and testdata, see judge.go. It opens a gap and
//     a question that names both answers; it is a contradiction when the reply to that question, weighed by another model, leaves both standing. Of
//     a finished interview, where nobody is there to ask, only what is probable enough is recorded: see Finished.
//   - Precision before recall: what is hardly probable is no suspicion. In a dialogue it may be asked about once, and is forgotten if the reply does
//     not leave it standing clearly.
//   - go generate trains the models again, to the same bytes on every machine.
//   - Whatever is quoted was said, word for word.
//   - What an answer leaves open is judged by weights that labelled interviews taught, in training; what the rules say is one sign among others there.
//   - The closed classes of words, and all that a person reads, are data, one file a language.
//   - Equal input gives equal output. The work for a further exchange depends on its length and hardly on those before it. No text makes it panic.
package rules
