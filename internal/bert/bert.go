// Package bert sorts a text into one of a few labels with a classifier of the BERT family: an ONNX model in a local folder,
// computed in pure Go in a child process (FR-019 to FR-022 in docs/requirements.md).
//
// A child, because the libraries that compute the model panic, print and end the process where they meet what they don't know,
// and hold several times the model's size in memory. The folder and the child's command are the person's settings; nothing a
// model or a tool says may reach them.
//
// Guarantees:
//   - New starts nothing. The first question starts the child, which loads the model; it is kept for further questions. It ends
//     when nobody has asked anything for ten minutes, and the next question starts another.
//   - The child ends with its parent, however that ends: its standard input is then at its end. Close ends it and waits.
//   - Loading and answering each have a time-out. A child that exceeds it, is left in the middle of an answer or breaks the
//     protocol is killed.
//   - A child that dies after it had answered is replaced, once a question. A model that fails is left alone for a minute, in
//     which its error comes back at once: the caller's own rules must not wait for it again and again.
//   - Text is cleaned of control characters and invalid UTF-8 and bounded to MaxText characters, head and tail. A text can't
//     write a model's control tokens, so it can't forge a hypothesis, nor push one out of what the model reads.
//   - Every error is an *Error. Questions may be asked concurrently; they are answered one at a time.
package bert

import (
	"fmt"
	"time"
)

// Bounds of a question. Lengths are in characters.
const (
	MaxText       = 2000
	MaxLabels     = 32
	MaxName       = 100
	MaxHypothesis = 300
)

// Label is one of the answers to choose from. Hypothesis is a sentence that is true of a text of this label ("The assistant
// repeats itself."); a zero-shot model reads it, a model that was trained on the labels goes by Name.
type Label struct {
	Name       string `json:"name"`
	Hypothesis string `json:"hypothesis,omitempty"`
}

// Score says how much a label fits, from 0 to 1. The scores of one answer sum to 1.
type Score struct {
	Label string  `json:"label"`
	Score float64 `json:"score"`
}

// ModelKind is how a model comes to its answer.
type ModelKind string

// The kinds of model, told apart by the labels in its config.json: a zero-shot model is one trained on natural language
// inference, with a label “entailment”.
const (
	ZeroShot       ModelKind = "zero-shot"
	Classification ModelKind = "classification"
)

// Config says where the model is and how the child is started.
type Config struct {
	// Dir holds the model: config.json, tokenizer.json, and model.onnx or onnx/model.onnx.
	Dir string

	// Timeout bounds one answer, LoadTimeout the child's start with the loading of the model. 0: 15 s and 30 s.
	Timeout, LoadTimeout time.Duration

	// Command starts a process that calls Serve; the folder is appended as its last argument.
	Command []string

	// Missing says what to do where there is no such program.
	Missing string

	// Env is the child's whole environment: it needs none, and the keys of the parent's are no business of its.
	Env []string
}

// Info is what Check found out.
type Info struct {
	Kind       ModelKind
	Labels     []string // as config.json names them, in its order
	LoadTime   time.Duration
	AnswerTime time.Duration
}

// ErrorKind sorts the ways a classification can fail by what can be done about it.
type ErrorKind string

const (
	NotAModel   ErrorKind = "not_a_model"  // the folder is missing, or lacks files of a model
	LoadFailed  ErrorKind = "load_failed"  // the files are there, but can't be used
	WrongLabels ErrorKind = "wrong_labels" // the model was trained on other labels
	Unanswered  ErrorKind = "unanswered"   // the model failed on this text
	Timeout     ErrorKind = "timeout"      // loading or answering took too long
	Died        ErrorKind = "died"         // the child could not be started, or ended by itself
	Garbled     ErrorKind = "garbled"      // the child said what the protocol does not know
	Invalid     ErrorKind = "invalid"      // the question was wrong: no text, no labels, out of bounds
	Cancelled   ErrorKind = "cancelled"    // the caller withdrew the question
	Closed      ErrorKind = "closed"       // the classifier was closed
)

// Error is a failed classification. Its text names the model's folder and what would help.
type Error struct {
	Kind    ErrorKind
	Dir     string
	Message string
	Err     error
}

func (e *Error) Error() string {
	text := e.Message
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return fmt.Sprintf("classifier %s: %s", e.Dir, text)
}

func (e *Error) Unwrap() error { return e.Err }

// lasting says whether the next question would likely fail in the same way, and as slowly.
func (e *Error) lasting() bool {
	switch e.Kind {
	case NotAModel, LoadFailed, Timeout, Died, Garbled:
		return true
	}
	return false
}
