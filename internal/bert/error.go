package bert

import "fmt"

// ErrorKind sorts the ways a classification can fail by what can be done about it.
type ErrorKind string

// The kinds of failure.
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
