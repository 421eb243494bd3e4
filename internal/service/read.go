package service

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"sibyl/internal/bt"
	"sibyl/internal/journal"
	"sibyl/internal/run"
	"sibyl/internal/run/audit"
	"sibyl/internal/run/replay"
	"sibyl/internal/service/assistant"
	"sibyl/internal/text"
	"sibyl/internal/text/markdown"
)

// Conversation is a session with the outcomes of the ended runs of one of its branches, oldest first, as their
// assistants made them, without those of companions.
type Conversation struct {
	journal.Session
	Outcomes []json.RawMessage `json:"exchanges" doc:"The outcomes of the runs of a branch, in the form of the assistant."`
	Versions []Versions        `json:"versions,omitempty" doc:"Of each exchange that has others in its place."`
	Others   int               `json:"others,omitempty" doc:"How many runs are only in other branches. The audit has them."`
	Setup    *assistant.Setup  `json:"setup,omitempty" doc:"What it was set up with; left out in files, and where its assistant keeps nothing."`

	shown []assistant.Shown
}

// Show reads the conversation of a session in the branch of one of its runs; "": in the branch of the latest.
func (s *Service) Show(ctx context.Context, owner journal.Owner, id, of string) (Conversation, error) {
	session, branch, err := s.branch(ctx, owner, id, of)
	if err != nil {
		return Conversation{}, err
	}
	c := Conversation{Session: session, Outcomes: []json.RawMessage{}, Others: branch.others}
	a, err := s.assistantNamed(session.Assistant)
	if err != nil {
		return c, err
	}
	for n, r := range branch.runs {
		if r.Status == journal.Running {
			continue
		}
		end, err := run.ReadEnd(ctx, s.config.Store, owner, r.ID)
		if err != nil {
			return c, err
		}
		res, err := readResult(a, r.ID, end)
		if err != nil {
			return c, err
		}
		c.Outcomes, c.shown = append(c.Outcomes, end.Outcome), append(c.shown, res.Shown)
		if all := branch.versions[n]; len(all) > 1 {
			c.Versions = append(c.Versions, Versions{Run: r.ID, Versions: all})
		}
	}
	return c, nil
}

// Setup tells what the branch of a run of a session was set up with, or that of the latest; nil if its assistant keeps
// nothing, or is missing.
func (s *Service) Setup(ctx context.Context, in journal.Session, of string) (*assistant.Setup, error) {
	a := s.byName[in.Assistant]
	if a == nil || a.Setup == nil {
		return nil, nil
	}
	if of != "" {
		_, branch, err := s.branch(ctx, in.Owner, in.ID, of)
		if err != nil {
			return nil, err
		}
		of = branch.runs[len(branch.runs)-1].ID
	}
	told, err := a.Setup(ctx, in.Owner, in.ID, of)
	return &told, err
}

// sessionRuns lists the runs of a session, oldest first.
func (s *Service) sessionRuns(ctx context.Context, owner journal.Owner, in journal.Session) ([]journal.Run, error) {
	runs, err := s.config.Store.Runs(ctx, owner, journal.Filter{Session: in.ID, Limit: max(in.Runs, 1)})
	slices.Reverse(runs)
	return runs, err
}

// Markdown gives the conversation as Markdown in which nothing is fetched or executed when it is shown.
func (c Conversation) Markdown() string {
	b := &strings.Builder{}
	fmt.Fprintf(b, "# %s\n\nSession %s, %s\n", c.Title, c.ID, c.CreatedAt.Local().Format(time.RFC3339))
	if out := c.leftOut(); out != "" {
		fmt.Fprintf(b, "\n%s\n", out)
	}
	for _, x := range c.shown {
		heading := text.Brief(x.Question, journal.MostTitle)
		fmt.Fprintf(b, "\n## %s\n\n", heading)
		if heading != x.Question { // it was shortened, or has several lines
			fmt.Fprintf(b, "> %s\n\n", strings.ReplaceAll(x.Question, "\n", "\n> "))
		}
		fmt.Fprintf(b, "%s\n\n%s\n", x.Answer, strings.TrimRight(x.Footer, "\n"))
	}
	return markdown.Inert(b.String())
}

// formats are those of Export.
var formats = []string{"md", "html", "json", "jsonl"}

// Export gives the conversation as Markdown (md), a page (html) or one JSON object (json), or its outcomes as JSON
// lines (jsonl).
// As an export may be passed on, it does not name the session's folder. Another format is a UsageError.
func (c Conversation) Export(format string, encode func(v any, indent bool) (string, error)) (string, error) {
	switch format {
	case "md":
		return c.Markdown(), nil
	case "html":
		return c.Page()
	case "json":
		c.Place = ""
		return encode(c, true)
	case "jsonl":
		b := &strings.Builder{}
		for _, o := range c.Outcomes {
			line, err := encode(o, false)
			if err != nil {
				return "", err
			}
			b.WriteString(line)
		}
		return b.String(), nil
	}
	return "", asUsageError(fmt.Errorf("unknown format %q: use %s", format, strings.Join(formats[:len(formats)-1], ", ")+
		" or "+formats[len(formats)-1]))
}

// Explanation is what a run decided, sent and read, and how it ended.
type Explanation struct {
	Run     Row              `json:"run"`
	Steps   []Step           `json:"steps"`
	Ending  []string         `json:"ending" doc:"How it ended, or why it waits; empty while it goes on."`
	Story   []Told           `json:"story" doc:"The run as a story, for people."`
	Sent    []Sent           `json:"sent" doc:"To whom what left was sent, each once."`
	Sources []Source         `json:"sources" doc:"What was read for it, and what it cites."`
	Left    []assistant.Left `json:"left" doc:"What was sent away, in order."`
	Used    []Used           `json:"used" doc:"What models took, in order."`
	Tokens  assistant.Usage  `json:"tokens" doc:"All of that."`
	Shown   *assistant.Shown `json:"-"` // its outcome; nil: it has not ended, or its assistant is missing

	waitReason bt.Why // why it waits; without text: it does not wait
}

// Step is what the tree did with one record.
type Step struct {
	Record    int64                 `json:"record" doc:"The number of the record that it took in."`
	At        time.Time             `json:"at,omitzero" doc:"When that record was written."`
	TookIn    string                `json:"took_in" doc:"What that record is."`
	Took      *Took                 `json:"took,omitempty" doc:"The same in parts. Left out in a stream, where the record stands beside it."`
	Op        uint64                `json:"op,omitempty" doc:"The operation whose receipt that record is."`
	Status    string                `json:"status" enum:"RUNNING,SUCCESS,FAILURE,SKIPPED" doc:"Of the tree after it."`
	Events    []Event               `json:"events"`
	Started   []run.RequestedEffect `json:"started" doc:"What it asked for."`
	Withdrawn []uint64              `json:"withdrawn" doc:"The operations that it withdrew."`
}

// Event is one thing that happened in a step, with the sentence that tells it to people, if there is one.
type Event struct {
	run.TraceEvent
	bt.Why
}

// Took describes, in parts, the record that a step folded.
type Took struct {
	Kind    string `json:"kind" doc:"Of the record: start, completion, time and others."`
	Effect  string `json:"effect,omitempty" doc:"Of a receipt: the kind of its effect."`
	Label   string `json:"label,omitempty" doc:"Of that effect."`
	Failure string `json:"failure,omitempty" doc:"Why it failed."`
	bt.Coded
}

func newStep(step run.TraceStep, words run.Vocabulary) Step {
	return Step{Record: step.Record, Status: step.Status, Events: TellEvents(step.Events, words), Started: step.Start,
		Withdrawn: step.Cancel}
}

// TellEvents adds to each event the sentence that tells it.
func TellEvents(events []run.TraceEvent, words run.Vocabulary) []Event {
	all := make([]Event, len(events))
	for i, e := range events {
		all[i] = Event{e, words.Story(e)}
	}
	return all
}

// Explain gives the explanation of a run; without steps if it is set aside, since folding its records may be fatal.
func (s *Service) Explain(ctx context.Context, owner journal.Owner, id string) (Explanation, error) {
	x, err := s.explainSteps(ctx, owner, id)
	if err != nil {
		return x, err
	}
	x.Sent, x.Tokens = sumByPlace(x.Left), assistant.Sum(usages(x.Used)...)
	x.addStory(s.words[x.Run.Assistant])
	x.addEnding()
	return x, s.addNextMessage(ctx, owner, &x)
}

func (s *Service) explainSteps(ctx context.Context, owner journal.Owner, id string) (Explanation, error) {
	r, err := s.config.Store.Run(ctx, owner, id)
	if err != nil {
		return Explanation{}, err
	}
	row, err := s.newRow(ctx, r)
	if err != nil {
		return Explanation{}, err
	}
	if row.Cause == run.CauseSetAside { // folding its records could end this process, too
		ending := []string{"set aside: " + row.Text, "‘sibyl run resume --force " + id +
			"’ tries again, ‘sibyl run stop " + id + "’ ends it"}
		return Explanation{Run: row, Ending: ending, waitReason: bt.Because(strings.Join(ending, "; "))}, nil
	}
	steps, err := s.config.Engine.Explain(ctx, owner, id)
	if errors.Is(err, run.ErrIncompatible) {
		return Explanation{}, fmt.Errorf(
			"%w;\n      ‘sibyl session export %s’ writes what was asked and answered, ‘sibyl session audit %s’ shows "+
				"what was sent and done",
			err, r.Session, r.Session)
	}
	if err != nil {
		return Explanation{}, err
	}
	recs, err := s.config.Store.Records(ctx, owner, id, 0)
	if err != nil {
		return Explanation{}, err
	}
	x := Explanation{Run: row, Left: s.sentAway(r.Assistant, recs), Used: s.usagesByReceipt(r.Assistant, recs)}
	for _, step := range steps {
		one := newStep(step, s.words[r.Assistant])
		one.TookIn, one.Took, one.Op = describeRecord(recs, step.Record)
		if step.Record < int64(len(recs)) {
			one.At = recs[step.Record].At
		}
		x.Steps = append(x.Steps, one)
	}
	if len(recs) == 0 {
		return x, nil
	}
	last := &recs[len(recs)-1]
	switch {
	case last.Kind == run.KindSuspend:
		if body, err := run.Read(*last); err == nil {
			x.Ending, x.waitReason = []string{recordStory(last.Seq, body).Text}, body.(*run.SuspendRecord).Fault.Why()
		}
		return x, nil
	case r.Rests(s.config.Engine.LeaseTimes()):
		x.waitReason = row.Why
		x.Ending = []string{x.waitReason.Text}
		return x, nil
	case r.Status == journal.Running:
		return x, nil
	}
	body, err := run.Read(*last)
	if err != nil {
		return x, err
	}
	end, ok := body.(*run.EndRecord)
	if !ok {
		return x, nil
	}
	x.Ending = []string{"ended " + string(end.Status)}
	if end.Fault != nil {
		x.Ending[0] += ": " + end.Fault.Reason
	}
	if a := s.byName[r.Assistant]; a != nil {
		res, err := readResult(a, id, *end)
		if err != nil {
			return x, err
		}
		x.Shown = &res.Shown
		if body, err := run.Read(recs[0]); err == nil && a.Places != nil {
			passages, err := s.readPassages(ctx, a, r, recs)
			if err != nil {
				return x, err
			}
			for _, p := range a.Places(body.(*run.StartRecord), end.Outcome) {
				x.Sources = append(x.Sources, s.checkSource(p, passages))
			}
		}
		if len(res.Ending) > 0 {
			x.Ending[0] += "; " + res.Ending[0]
			x.Ending = append(x.Ending, res.Ending[1:]...)
		}
	}
	return x, nil
}

// sentAway lists what a run sent out of this program, according to its receipts.
func (s *Service) sentAway(name string, recs []journal.Record) []assistant.Left {
	all := []assistant.Left{}
	readLeft := assistant.SentToModels
	if a := s.byName[name]; a != nil && a.Left != nil {
		readLeft = a.Left
	}
	for _, c := range run.Receipts(recs) {
		all = append(all, readLeft(c)...)
	}
	return all
}

// describeRecord describes a record in words and in parts, and gives the operation whose receipt it is, else 0.
func describeRecord(recs []journal.Record, seq int64) (string, *Took, uint64) {
	if seq >= int64(len(recs)) {
		return "", nil, 0
	}
	took := &Took{Kind: recs[seq].Kind}
	body, err := run.Read(recs[seq])
	switch c := body.(type) {
	case *run.StartRecord:
		return "the beginning", took, 0
	case *run.TimeRecord:
		return "a timer", took, 0
	case *run.CompletionRecord:
		took.Effect, took.Label = c.Kind, c.Label
		name := c.Name()
		if c.Err != nil {
			took.Failure, took.Coded = c.Err.Reason, c.Err.Why().Coded
			return name + ": failed: " + c.Err.Reason, took, c.Op
		}
		return name + ": done", took, c.Op
	}
	if err != nil {
		return "it can't be read", took, 0
	}
	return recs[seq].Kind, took, 0
}

// SessionAudit is the audit of a session with all its runs, oldest first.
type SessionAudit struct {
	Session journal.Session `json:"session"`
	Runs    []RunAudit      `json:"runs"`
}

// RunAudit is the audit of one run. Its JSON has the findings of its assistant under their Name.
type RunAudit struct {
	*audit.Run
	Standing run.Standing
	Findings assistant.Findings
	Left     []assistant.Left // what was sent away, in the order of the receipts
}

// MarshalJSON adds Left and the findings to the fields of the audit.Run; Standing is left out.
func (a RunAudit) MarshalJSON() ([]byte, error) {
	beside := map[string]any{"left": a.Left}
	if a.Findings.Name != "" {
		beside[a.Findings.Name] = a.Findings.Items
	}
	kept, err := run.Marshal(a.Run)
	if err != nil {
		return nil, err
	}
	more, err := run.Marshal(beside)
	return slices.Concat(bytes.TrimSuffix(kept, []byte("}")), []byte(","), bytes.TrimPrefix(more, []byte("{"))), err
}

// Audit reads all runs of a session, also replaced ones. Of a record that can't be read it says so, and continues.
func (s *Service) Audit(ctx context.Context, owner journal.Owner, id string) (SessionAudit, error) {
	all := SessionAudit{Runs: []RunAudit{}}
	var err error
	if all.Session, err = s.config.Store.Session(ctx, owner, id); err != nil {
		return all, err
	}
	runs, err := s.sessionRuns(ctx, owner, all.Session)
	if err != nil {
		return all, err
	}
	for _, r := range runs {
		recs, err := s.config.Store.Records(ctx, owner, r.ID, 0)
		if err != nil {
			return all, err
		}
		one := s.auditRun(ctx, owner, r, recs)
		standings, err := s.config.Engine.Standings(ctx, owner, r)
		if err != nil {
			return all, err
		}
		one.Standing = standings[0]
		all.Runs = append(all.Runs, one)
	}
	return all, nil
}

func (s *Service) auditRun(ctx context.Context, owner journal.Owner, r journal.Run, recs []journal.Record) RunAudit {
	a := s.byName[r.Assistant]
	if a == nil {
		a = &assistant.Assistant{}
	}
	steps, _ := run.ReadTrace(recs) // the audit reports unreadable records
	if r.Status == journal.Running {
		steps, _ = s.config.Engine.Explain(ctx, owner, r.ID)
	}
	effect := a.Effect
	if effect == nil {
		effect = func(*run.CompletionRecord) any { return nil }
	}
	audited := RunAudit{Left: s.sentAway(r.Assistant, recs)}
	audited.Run = audit.Of(r, recs, steps, effect)
	if a.Audit != nil {
		bodies := make([]any, len(recs))
		for i, rec := range recs {
			bodies[i], _ = run.Read(rec)
		}
		audited.Findings = a.Audit(bodies, steps)
	}
	return audited
}

// Replay runs the records of a run through its tree or another one, perhaps with other texts, and says what differs.
// It performs no effects and writes nothing.
func (s *Service) Replay(
	ctx context.Context, owner journal.Owner, id string, o replay.Options,
) (*replay.Result, error) {
	return replay.Run(ctx, s.config.Engine, owner, id, o)
}

// ReplayTexts lets a replay use the texts of a folder instead of the run's; a UsageError if its assistant records none.
func (s *Service) ReplayTexts(
	ctx context.Context, owner journal.Owner, id, folder string,
) (func(ctx context.Context, v *run.View) ([]run.Text, error), error) {
	_, a, err := s.runAndAssistant(ctx, owner, id)
	if err != nil {
		return nil, err
	}
	if a.Texts == nil {
		return nil, asUsageError(fmt.Errorf("%s records no texts that could be changed", a.Name))
	}
	return a.Texts(folder), nil
}
