// Package witness answers the questions of an inquiry: from documents, or as a model.
//
// Guarantees:
//   - A witness from documents says nothing of its own. Its answers are sentences of the documents, verbatim, each with
//     a citation that names document, page and chunk, and the chunk's hash. A model that chooses them is believed only
//     what stands there letter by letter. Where nothing was found Answer.NotFound is set; that the documents hold
//     nothing is never said.
//   - Equal documents, questions and earlier exchanges give equal answers, while no model takes part.
//   - A witness from a model sees the question and the earlier exchanges: what is believed of the matter is not told to
//     it.
//   - Errors of models keep their kinds (*model.Error), and every call ends with its context.
package witness

import (
	"context"

	"sibyl/internal/bt"
	"sibyl/internal/inquiry/record"
	"sibyl/internal/model"
)

// What goes wrong besides an answer.
const (
	chosenByOther bt.Reason = "witness.other: {model}: {why}; the quotations are chosen by {by}"
	notInPassage  bt.Reason = "witness.misquoted: {model} quoted what is not in the passage, which was left out: " +
		"“{words}”"
	onlyWords     bt.Reason = "witness.words: the search by meaning failed; from here on only words are searched: {why}"
	chosenByWords bt.Reason = "witness.sentences: the passages could not be read by a model, and sentences are " +
		"chosen by their words: {why}"
	notCompared bt.Reason = "witness.uncompared: what the documents say of the same thing could not all be " +
		"compared: {why}"
	stoppedRepeating bt.Reason = "witness.repeated: {model} repeated itself and was stopped"
)

// Reasons are the sentences of Answer.Notes.
func Reasons() []bt.Reason {
	return []bt.Reason{chosenByOther, notInPassage, onlyWords, chosenByWords, notCompared, stoppedRepeating}
}

// modelFailure is the reason for a model's failure.
func modelFailure(err error) bt.Why {
	return (&bt.Fault{Kind: string(model.KindOf(err)), Reason: err.Error()}).Why()
}

// Exchange is a question that was asked before, and its answer.
type Exchange struct {
	Question, Answer string
	NotFound         bool // nothing was found to answer it
}

// Answer is a witness's answer.
type Answer struct {
	Text      string
	Citations []Citation // in the order of Text; none from a model
	NotFound  bool       // no passage on the question was found; Text says so
	Further   bool       // with NotFound: passages on it were found, and earlier answers quote them all
	By        string     // who answered, or chose the quotations: "documents", or "provider:model"
	Notes     []bt.Why   // what happened besides the answer: "the search by meaning failed, …"

	NotOwn []string // what was dropped of a model's answer: only repeated of what was sent

	Compared []Comparison // statements of documents that a model compared

	Given []string    // the passages that a model chose from, as "FILE, page 2, passage 7"
	Model string      // the model that was asked to choose, even if its choice was unusable
	Usage model.Usage // of a model
	Sent  model.Sent  // to a model
	Left  int         // the oldest exchanges that were not sent to a model: its window had no room for them
	Tries []model.Try // models that did not answer before the one that did

	TimedOut []model.Try // time-outs after which the same model was asked again
}

// Citation is a quotation with the text of its chunk.
type Citation struct {
	record.Citation
	Passage string // the chunk's text
}

// Witness answers questions. It is safe for concurrent use.
type Witness interface {
	// Answer answers a question in a language, "en", "de", "pt", "fr" or "es", after these exchanges.
	Answer(ctx context.Context, question, language string, earlier []Exchange) (Answer, error)

	// Check returns an error if it can't answer.
	Check(ctx context.Context) error

	// Name is how a person knows it: the documents' names, or "provider:model".
	Name() string
}
