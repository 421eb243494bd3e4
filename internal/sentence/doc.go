// Package sentence finds the sentences of texts that answer a question, by what it asks for (who, when, where, how much, why) and what it is
// about, in English and German.
//
// Guarantees:
//   - It says nothing of its own: what it gives is where a sentence stands. Where nothing answers it gives nothing, since silence is better
//     than the answer to another question.
//   - Equal texts, questions and earlier exchanges give equal sentences.
//   - A Corpus is safe for concurrent use.
package sentence

// Text is a text as it is searched.
type Text struct {
	Name  string   // of its file, without the ending: its words say what the text is about
	Parts []string // in their order; lines that are one sentence stand in one line
}

// Exchange is a question that was asked before, and its answer.
type Exchange struct {
	Question, Answer string
	NotFound         bool
}

// Quote is where words stand that answer.
type Quote struct {
	Part     int // among the parts of all texts, from 0
	From, To int // within it, in bytes
}
