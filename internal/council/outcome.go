package council

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"sibyl/internal/bt"
	"sibyl/internal/council/session"
	"sibyl/internal/journal"
	"sibyl/internal/model"
	"sibyl/internal/run"
	"sibyl/internal/service/assistant"
	"sibyl/internal/text"
)

// Outcome is the result of a run. Depending on its kind it has one Answer, the Answers of a sitting with what the chair
// made of them, Recordings, or a Name.
type Outcome struct {
	Kind     string   `json:"kind"`
	Run      string   `json:"run_id"`
	Session  string   `json:"session_id"`
	Name     string   `json:"name,omitempty"` // of the session
	Model    string   `json:"model,omitempty"`
	Language string   `json:"language,omitempty"`
	Cut      string   `json:"cut,omitempty"`
	Left     []string `json:"left_out,omitempty"`
	Doubted  []string `json:"doubted,omitempty"`
	SittingResult
	Unsaved *Unsaved `json:"unsaved,omitempty"` // an answer of this very run that could not be written

	Recordings []TranscriptReceipt `json:"recordings,omitempty"`
	Failed     []Recording         `json:"failed,omitempty"`
	// recordings that failed in earlier runs, and were not tried
	Before int `json:"failed_before,omitempty"`

	Failure *Failure `json:"failure,omitempty"`
}

// SittingResult is the result of asking oracles. Texts are Markdown.
type SittingResult struct {
	Oracles        []Seat    `json:"oracles,omitempty"` // who were asked
	Answer         *Answer   `json:"answer,omitempty"`  // of one who was asked alone
	Answers        []Answer  `json:"answers,omitempty"` // of several
	Silent         []Silent  `json:"without_answer,omitempty"`
	Chair          *Answer   `json:"chair,omitempty"`  // nil: nobody presided
	Merges         string    `json:"merges,omitempty"` // the run of the earlier sitting whose answers the chair merged again
	*MergedAnswers           // what the chair made of the answers
	Skipped        []Skipped `json:"skipped,omitempty"`
}

// Answer is an answer of an oracle or a chair. File is its file in the session's folder; Unsaved says why it has none.
type Answer struct {
	Oracle   Seat                    `json:"oracle"`
	Run      string                  `json:"run_id"`
	Sequence int                     `json:"sequence,omitempty"`
	File     string                  `json:"response_filename,omitempty"`
	Unsaved  string                  `json:"unsaved,omitempty"`
	Text     string                  `json:"text"`
	Model    string                  `json:"model"`
	Usage    model.Usage             `json:"usage"`
	At       time.Time               `json:"created_at"`
	Snapshot session.ContextSnapshot `json:"context_snapshot"`
	CutOff   bool                    `json:"cut_off,omitempty"`  // the model's limit of output was reached
	Repeated bool                    `json:"repeated,omitempty"` // the model repeated itself, and was stopped
}

// Silent is an oracle that gave no answer.
type Silent struct {
	Oracle Seat   `json:"oracle"`
	Run    string `json:"run_id,omitempty"`
	Reason string `json:"reason"`
	bt.Coded
}

// Failure says why a run failed or was stopped; the outcome may still have partial results.
type Failure struct {
	Kind    string `json:"kind"`
	Message string `json:"message"`
}

// Turn is what the journal's row keeps of a run.
type Turn struct {
	Kind    string `json:"kind"`
	Session string `json:"session_id"`
	Unsaved bool   `json:"unsaved,omitempty"` // its outcome has an answer that could not be written
}

// Unsaved is an answer that could not be written into the session's folder: all that it takes to write it later.
type Unsaved struct {
	Session string           `json:"session_id"`
	Entry   session.LlmEntry `json:"entry"`
	Slug    string           `json:"slug"`
	Text    string           `json:"text"`
}

// outcome implements run.Assistant.Outcome, also for a stopped or suspended run.
func outcome(v *run.View, e run.Ending) run.Outcome {
	c := composer{performer: performer{view: v}, answers: map[int64]*Answer{},
		saves: map[int64]*run.CompletionRecord{}}
	_ = c.readStart() // a run that did not begin as it should has nothing to show
	o := Outcome{Kind: c.given.Kind, Run: v.ID, Session: c.given.Session, Name: c.env.Name, Model: c.env.Model,
		Language: c.env.Language,
		Cut:      c.env.Cut, Left: c.env.Left, Doubted: c.env.Doubted, SittingResult: SittingResult{Oracles: c.given.Oracles,
			Merges: c.env.Merges}}
	c.addReceipts(&o, e)
	r := run.Outcome{Status: journal.Done, Reason: reasons[c.given.Kind]}
	switch {
	case e.Cancelled:
		r.Status, r.Reason = journal.Cancelled, "stopped"
		o.Failure = &Failure{run.KindCancelled, wasStopped}
	case e.Suspended:
		r.Status, r.Reason = journal.Running, "suspended"
	case e.Status != bt.Success:
		f := cmp.Or(e.Fault, &bt.Fault{Kind: run.KindTree, Reason: "the tree gave up"})
		r.Status, r.Reason = journal.Failed, "failed"
		o.Failure = &Failure{f.Kind, f.Reason}
	}
	r.Result, r.Summary = o, Turn{o.Kind, o.Session, o.Unsaved != nil}
	return r
}

// reasons are the reasons of runs that succeed, by kind.
var reasons = map[string]string{KindAnswer: "answered", KindSitting: "answered",
	KindTranscription: "transcribed", KindNaming: "named"}

const wasStopped = "it was stopped"

// readOutcome reads the outcome of a run. An error is journal.ErrCorrupt.
func readOutcome(raw json.RawMessage) (o Outcome, err error) {
	if err := json.Unmarshal(raw, &o); err != nil {
		return o, fmt.Errorf("%w: %w", journal.ErrCorrupt, err)
	}
	return o, nil
}

// ReadSittingResult decodes the outcome of a run. asked is false if it asked no oracle, but named a session or
// transcribed.
func ReadSittingResult(outcome json.RawMessage) (s SittingResult, asked bool, err error) {
	o, err := readOutcome(outcome)
	return o.SittingResult, o.Kind == KindAnswer || o.Kind == KindSitting, err
}

// ByOracles are the answers of all who were asked, which one was, too.
func (s *SittingResult) ByOracles() []Answer {
	if s.Answer != nil {
		return []Answer{*s.Answer}
	}
	return s.Answers
}

// shownOutcome reads an outcome for people.
func shownOutcome(outcome json.RawMessage) (s assistant.Shown, err error) {
	o, err := readOutcome(outcome)
	if err != nil {
		return s, err
	}
	s.Question, s.Answer, s.Footer = o.question(), strings.TrimSpace(o.Markdown()), o.footer()
	s.Ending = []string{strings.Trim(o.footer(), "*\n ")} // a line, and no Markdown
	if o.Cut != "" {
		s.Warn(someCut.With(o.Cut))
	}
	s.Warnings = append(append(s.Warnings, o.Left...), o.Doubted...)
	for _, a := range o.allAnswers() {
		if sent := cutInWords(a.Snapshot); sent != o.Cut {
			s.Warn(answerCut.With(a.Oracle.Name, sent))
		}
		if a.Unsaved != "" {
			s.Warn(answerNotKept.With(a.Oracle.Name, a.Unsaved, o.Session))
		}
		if a.CutOff {
			s.Warn(answerEnds.With(a.Oracle.Name))
		}
		if a.Repeated {
			s.Warn(answerRepeats.With(a.Oracle.Name))
		}
		if a.File != "" {
			s.Sources = append(s.Sources, a.File)
		}
	}
	for _, a := range o.Answers {
		s.Beside = append(s.Beside, a.usage())
	}
	for _, one := range o.Silent {
		s.Warn(oracleSilent.With(one.Oracle.Name, bt.Why{Text: one.Reason, Coded: one.Coded}))
	}
	for _, f := range o.Failed {
		s.Warn(notTranscribed.With(f.Sequence, f.Failed))
	}
	for _, one := range o.Skipped {
		s.Warn(one.Story())
	}
	s.Partial = o.isPartial()
	if len(o.Silent) > 0 && o.Failure == nil {
		s.Warn(answersKept.With(strings.Join(o.askedAgain(), " "), o.Session))
	}
	if o.Failure != nil {
		s.Failure = assistant.NewFailure(o.Failure.Kind, assistant.Line{{{Format: "%s", Values: []any{o.Failure.Message}}}},
			o.hint())
	}
	s.Came = []bt.Why{storyAnswered.With()}
	for _, lack := range s.Warnings {
		s.Came = append(s.Came, storyLacks.With(lack))
	}
	return s, nil
}

// isPartial says whether something that was asked for is missing.
func (o *Outcome) isPartial() bool {
	lacks := func(a Answer) bool { return a.CutOff || a.Repeated || a.Unsaved != "" }
	return len(o.Silent)+len(o.Failed)+len(o.Skipped) > 0 || slices.ContainsFunc(o.allAnswers(), lacks)
}

// askedAgain are the oracles that gave no answer, or all.
func (o *Outcome) askedAgain() (names []string) {
	for _, one := range o.Silent {
		names = append(names, one.Oracle.Slug)
	}
	if len(names) == 0 {
		for _, seat := range o.Oracles {
			names = append(names, seat.Slug)
		}
	}
	return names
}

// hint says what is kept after a failure, and how to try again. It needs o.Failure.
func (o *Outcome) hint() assistant.Line {
	deleted := func(s Silent) bool { return s.Reason == wasDeleted }
	clause := func(format string, values ...any) assistant.Clause {
		return assistant.Clause{{Format: format, Values: values}}
	}
	switch {
	case o.Failure.Message == wasDeleted || slices.ContainsFunc(o.Silent, deleted):
		return assistant.Line{clause("deleting moves a session to the trash folder"),
			clause("once it is moved back, it can be asked about again")}
	case o.Kind == KindTranscription:
		return assistant.Line{clause("transcripts and recordings are kept"),
			clause("‘sibyl council transcribe %s’ continues", o.Session)}
	case len(o.Answers) > 0:
		return assistant.Line{clause("answers so far are kept")}
	case o.Kind == KindNaming:
		return assistant.Line{clause("the session keeps its name"), clause("try again, or name it by hand")}
	}
	return assistant.Line{clause("the session is unchanged"), clause("‘sibyl council ask %s --session %s’ asks again",
		strings.Join(o.askedAgain(), " "), o.Session)}
}

// allAnswers are the answers of the outcome, of whatever kind.
func (o *Outcome) allAnswers() (all []Answer) {
	all = slices.Clone(o.ByOracles())
	if o.Chair != nil {
		all = append(all, *o.Chair)
	}
	return all
}

func (o *Outcome) question() string {
	name := cmp.Or(o.Name, o.Session)
	switch o.Kind {
	case KindTranscription:
		return "transcribing " + name
	case KindNaming:
		return "a name for " + name
	}
	var oracles []string
	for _, seat := range o.Oracles {
		oracles = append(oracles, seat.Name)
	}
	return strings.Join(oracles, ", ") + ": " + name
}

func (o *Outcome) footer() string {
	var all []string
	if o.Model != "" {
		all = append(all, o.Model)
	}
	if n := len(o.Recordings); n > 0 {
		all = append(all, text.Count(n, "recording"))
	}
	if o.Failure != nil {
		all = append(all, "no answer: "+o.Failure.Message)
	}
	var files []string
	for _, a := range o.allAnswers() {
		if a.File != "" {
			files = append(files, a.File)
		}
	}
	if len(files) > 0 {
		all = append(all, "kept as "+strings.Join(files, ", "))
	}
	return "*" + strings.Join(append([]string{"session " + o.Session}, all...), "; ") + "*"
}
