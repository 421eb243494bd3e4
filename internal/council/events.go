package council

import (
	"strings"

	"sibyl/internal/agent"
	"sibyl/internal/bt"
)

// Events gives one event of each type.
func Events() []bt.Typed {
	return []bt.Typed{OracleAsked{}, OracleHeard{}, AnswerKept{}, AnswerUnsaved{}, Merging{}, Chaired{}, Skipped{},
		Named{}, Transcribed{}, NotTranscribed{}, agent.NotOwn{},
		agent.RequestCut{}}
}

func eventReasons() []bt.Reason {
	return []bt.Reason{oracleAsked, oracleHeard, oracleSilent, answerKept, answerUnsaved, merging, chaired, skipped,
		named, transcribed, doubted, notTranscribed, agent.SaidNotOwn, agent.SaidCut}
}

// OracleAsked says that an oracle of a sitting is asked, in a run of its own that is about to begin.
type OracleAsked struct {
	Oracle string `json:"oracle"`
	ID     string `json:"oracle_id"`
	Run    string `json:"run"`
}

const oracleAsked bt.Reason = "story.thought.oracle: Asked {oracle}"

// EventType implements bt.Typed.
func (OracleAsked) EventType() string { return "oracle.asked" }

// Story implements bt.Narrated.
func (e OracleAsked) Story() bt.Why { return oracleAsked.With(e.Oracle) }

func (e OracleAsked) InRun() string { return e.Run }

// OracleHeard says that an oracle of a sitting has answered, or why it has not.
type OracleHeard struct {
	Oracle string `json:"oracle"`
	Run    string `json:"run,omitempty"`
	Failed string `json:"failed,omitempty"`
	bt.Coded
}

const (
	oracleHeard  bt.Reason = "control.heard: {oracle} answered"
	oracleSilent bt.Reason = "story.failed.oracle: {oracle} gave no answer: {why}"
)

// EventType implements bt.Typed.
func (OracleHeard) EventType() string { return "oracle.heard" }

// Story implements bt.Narrated.
func (e OracleHeard) Story() bt.Why {
	if e.Failed != "" {
		return oracleSilent.With(e.Oracle, bt.Why{Text: e.Failed, Coded: e.Coded})
	}
	return oracleHeard.With(e.Oracle)
}

func (e OracleHeard) InRun() string { return e.Run }

// AnswerKept says that an answer is in the session's folder.
type AnswerKept struct {
	File string `json:"file"`
}

const answerKept bt.Reason = "story.wrote.answer: Kept the answer in the session, as {file}"

// EventType implements bt.Typed.
func (AnswerKept) EventType() string { return "answer.kept" }

// Story implements bt.Narrated.
func (e AnswerKept) Story() bt.Why { return answerKept.With(e.File) }

// AnswerUnsaved says that an answer could not be written.
type AnswerUnsaved struct {
	Reason string `json:"reason"`
	bt.Coded
}

const answerUnsaved bt.Reason = "story.failed.unsaved: Could not write the answer to the session’s folder, so it " +
	"stays in the journal: {why}"

// EventType implements bt.Typed.
func (AnswerUnsaved) EventType() string { return "answer.unsaved" }

// Story implements bt.Narrated.
func (e AnswerUnsaved) Story() bt.Why {
	return answerUnsaved.With(bt.Why{Text: e.Reason, Coded: e.Coded})
}

// Merging says that the chair is about to merge the answers.
type Merging struct {
	Oracle string `json:"oracle"`
}

const merging bt.Reason = "story.thought.chair: Had {oracle} compare the answers"

// EventType implements bt.Typed.
func (Merging) EventType() string { return "answers.merging" }

// Story implements bt.Narrated.
func (e Merging) Story() bt.Why { return merging.With(e.Oracle) }

// Chaired says that a chair has merged the answers, and how many points it made.
type Chaired struct {
	Oracle     string `json:"oracle"`
	Agree      int    `json:"agree"`
	Differ     int    `json:"differ"`
	Overlooked int    `json:"overlooked"`
}

const chaired bt.Reason = "story.checked.chair: {oracle} compared the answers: agreed {agree}, differing {differ}, " +
	"overlooked {overlooked}"

// EventType implements bt.Typed.
func (Chaired) EventType() string { return "answers.chaired" }

// Story implements bt.Narrated.
func (e Chaired) Story() bt.Why { return chaired.With(e.Oracle, e.Agree, e.Differ, e.Overlooked) }

// Skipped says that a part of a sitting was left out.
type Skipped struct {
	What string `json:"what"`
	bt.Why
}

const skipped bt.Reason = "story.part.skipped: Did not compare the answers: {why}"

// EventType implements bt.Typed.
func (Skipped) EventType() string { return "part.skipped" }

// Story implements bt.Narrated.
func (e Skipped) Story() bt.Why { return skipped.With(e.Why) }

// Named says what a session is called after a model was to name it.
type Named struct {
	Name string `json:"name"`
}

const named bt.Reason = "story.wrote.name: Called the session “{name}”"

// EventType implements bt.Typed.
func (Named) EventType() string { return "session.named" }

// Story implements bt.Narrated.
func (e Named) Story() bt.Why { return named.With(e.Name) }

// Transcribed says that a recording was transcribed.
type Transcribed struct {
	Sequence int      `json:"sequence"`
	Words    int      `json:"words"`
	By       string   `json:"by"`
	Flags    []string `json:"flags,omitempty"`
}

const (
	transcribed bt.Reason = "story.read.recording: Wrote down recording {n}: {words} words"
	doubted     bt.Reason = "recording.doubted: Parts of it may not have been said: {flags}"
)

// EventType implements bt.Typed.
func (Transcribed) EventType() string { return "recording.transcribed" }

// Story implements bt.Narrated.
func (e Transcribed) Story() bt.Why {
	told := transcribed.With(e.Sequence, e.Words)
	if len(e.Flags) > 0 {
		told = bt.Both(told, doubted.With(strings.Join(e.Flags, ", ")))
	}
	return told
}

// NotTranscribed says that a recording could not be transcribed. The recording is kept.
type NotTranscribed struct {
	Sequence int    `json:"sequence"`
	Reason   string `json:"reason"`
	bt.Coded
}

const notTranscribed bt.Reason = "story.failed.recording: Could not write down recording {n}, which is kept: {why}"

// EventType implements bt.Typed.
func (NotTranscribed) EventType() string { return "recording.failed" }

// Story implements bt.Narrated.
func (e NotTranscribed) Story() bt.Why {
	return notTranscribed.With(e.Sequence, bt.Why{Text: e.Reason, Coded: e.Coded})
}
