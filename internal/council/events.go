package council

import (
	"fmt"
	"strings"

	"sibyl/internal/bt"
)

// Events gives one event of each type.
func Events() []bt.Typed {
	return []bt.Typed{OracleAsked{}, OracleHeard{}, AnswerKept{}, AnswerUnsaved{}, Merging{}, Chaired{}, Skipped{},
		Named{}, Transcribed{}, NotTranscribed{}}
}

// OracleAsked says that an oracle of a sitting is asked, in a run of its own that is about to begin.
type OracleAsked struct {
	Oracle string `json:"oracle"`
	ID     string `json:"oracle_id"`
	Run    string `json:"run"`
}

// EventType implements bt.Typed.
func (OracleAsked) EventType() string { return "oracle.asked" }

func (e OracleAsked) String() string { return e.Oracle + " is answering" }

// OracleHeard says that an oracle of a sitting has answered, or why it has not.
type OracleHeard struct {
	Oracle string `json:"oracle"`
	Run    string `json:"run,omitempty"`
	Failed string `json:"failed,omitempty"`
	bt.Coded
}

// EventType implements bt.Typed.
func (OracleHeard) EventType() string { return "oracle.heard" }

func (e OracleHeard) String() string {
	if e.Failed != "" {
		return e.Oracle + " gave no answer: " + e.Failed
	}
	return e.Oracle + " has answered"
}

// AnswerKept says that an answer is in the session's folder.
type AnswerKept struct {
	File string `json:"file"`
}

// EventType implements bt.Typed.
func (AnswerKept) EventType() string { return "answer.kept" }

func (e AnswerKept) String() string { return "kept as " + e.File }

// AnswerUnsaved says that an answer could not be written.
type AnswerUnsaved struct {
	Reason string `json:"reason"`
	bt.Coded
}

// EventType implements bt.Typed.
func (AnswerUnsaved) EventType() string { return "answer.unsaved" }

func (e AnswerUnsaved) String() string {
	return "the answer could not be written to the session's folder and stays in the journal: " + e.Reason
}

// Merging says that the chair is about to merge the answers.
type Merging struct {
	Oracle string `json:"oracle"`
}

// EventType implements bt.Typed.
func (Merging) EventType() string { return "answers.merging" }

func (e Merging) String() string { return e.Oracle + ", the chair, merges the answers" }

// Chaired says that a chair has merged the answers, and how many points it made.
type Chaired struct {
	Oracle     string `json:"oracle"`
	Agree      int    `json:"agree"`
	Differ     int    `json:"differ"`
	Overlooked int    `json:"overlooked"`
}

// EventType implements bt.Typed.
func (Chaired) EventType() string { return "answers.chaired" }

func (e Chaired) String() string {
	return fmt.Sprintf("%s has merged the answers: %d agreed, %d differing, %d overlooked",
		e.Oracle, e.Agree, e.Differ, e.Overlooked)
}

// Skipped says that a part of a sitting was left out.
type Skipped struct {
	What string `json:"what"`
	bt.Why
}

// EventType implements bt.Typed.
func (Skipped) EventType() string { return "part.skipped" }

func (e Skipped) String() string { return e.What + ": left out, " + e.Text }

// Named says what a session is called after a model was to name it.
type Named struct {
	Name string `json:"name"`
}

// EventType implements bt.Typed.
func (Named) EventType() string { return "session.named" }

func (e Named) String() string { return "the session is called “" + e.Name + "”" }

// Transcribed says that a recording was transcribed.
type Transcribed struct {
	Sequence int      `json:"sequence"`
	Words    int      `json:"words"`
	By       string   `json:"by"`
	Flags    []string `json:"flags,omitempty"`
}

// EventType implements bt.Typed.
func (Transcribed) EventType() string { return "recording.transcribed" }

func (e Transcribed) String() string {
	s := fmt.Sprintf("recording %d: %d words", e.Sequence, e.Words)
	if e.By != "" {
		s += ", by " + e.By
	}
	if len(e.Flags) > 0 {
		s += "; unreliable: " + strings.Join(e.Flags, ", ")
	}
	return s
}

// NotTranscribed says that a recording could not be transcribed. The recording is kept.
type NotTranscribed struct {
	Sequence int    `json:"sequence"`
	Reason   string `json:"reason"`
	bt.Coded
}

// EventType implements bt.Typed.
func (NotTranscribed) EventType() string { return "recording.failed" }

func (e NotTranscribed) String() string {
	return fmt.Sprintf("recording %d could not be transcribed but is kept: %s", e.Sequence, e.Reason)
}
