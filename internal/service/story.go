package service

import (
	"context"
	"strings"
	"time"

	"sibyl/internal/bt"
	"sibyl/internal/journal"
	"sibyl/internal/run"
	"sibyl/internal/service/assistant"
	"sibyl/internal/text"
)

// Told is a line of the story of a run: what it did, for people who don't know the tree.
type Told struct {
	Step int   `json:"step" doc:"The step that it is told of, counted from 1."`
	From int64 `json:"from_ms" doc:"When it began, since the run did."`
	Took int64 `json:"took_ms"`
	bt.Why
	Run string `json:"run,omitempty" doc:"The run that it leads to."`
	End bool   `json:"end,omitempty" doc:"It tells how the run ended, or why it waits."`
}

// Sent sums up what a run sent to one place.
type Sent struct {
	Kind   string `json:"kind" enum:"model,address,engine,server"`
	To     string `json:"to" doc:"The model, or the call whole."`
	Times  int    `json:"times"`
	Bytes  int    `json:"bytes,omitempty"` // of the texts that were sent; 0: not recorded
	Tokens int    `json:"tokens,omitempty" doc:"As the model's provider counted them."`
}

// The sentences that the story of any run may have.
const (
	storyAsked   bt.Reason = "story.asked: You asked: “{words}”"
	storySaid    bt.Reason = "story.said: Then you said: “{words}”"
	storyWaits   bt.Reason = "story.waits: It waits: {why}"
	storyEnded   bt.Reason = "story.failed.end: Ended here: {why}"
	storyStopped bt.Reason = "story.stopped: You stopped it"
	runSuspended bt.Reason = "control.suspended: Suspended until resumed: {why}"
	runLeft      bt.Reason = "run.left: Left by a stopping process for others to resume"
	runTakenUp   bt.Reason = "run.taken_up: Taken up"
	runResumed   bt.Reason = "run.resumed: Resumed; effects performed again: {n}"
)

// Reasons lists the sentences that the story of any run may have, and what can be wrong with any request.
func Reasons() []bt.Reason {
	return []bt.Reason{storyAsked, storySaid, storyWaits, storyEnded, storyStopped, runSuspended, runLeft,
		runTakenUp, runResumed, noTitle, nothingToFind,
		wrongOptions}
}

// mostAsked bounds the characters of a message that a story quotes.
const mostAsked = 400

// addStory sets the story of a run, without its end. A line lasts as long as the effect whose receipt its step folds. A
// receipt without a line prolongs the line that was the last one when its effect was requested.
func (x *Explanation) addStory(words run.Vocabulary) {
	asked := x.Run.Title
	if x.Shown != nil {
		asked = x.Shown.Question
	}
	x.Story = []Told{{Step: 1, Why: storyAsked.With(text.Brief(asked, mostAsked))}}
	type pendingEffect struct {
		at   int64
		line int
	}
	pending := map[uint64]pendingEffect{}
	for i, step := range x.Steps {
		at := x.msSinceStart(step.At)
		linesBefore, began := len(x.Story), at
		request, isReceipt := pending[step.Op]
		if isReceipt {
			began = request.at
		}
		for _, e := range step.Events {
			if e.Why.Text == "" {
				continue
			}
			line := Told{Step: i + 1, From: began, Took: at - began, Why: e.Why}
			if other, hasRun := words.Read(e.TraceEvent).(interface{ InRun() string }); hasRun {
				line.Run = other.InRun()
			}
			x.Story, began = append(x.Story, line), at
		}
		if isReceipt && linesBefore == len(x.Story) {
			line := &x.Story[request.line]
			line.Took = max(line.Took, at-line.From)
		}
		for _, effect := range step.Started {
			pending[effect.Op] = pendingEffect{at, len(x.Story) - 1}
		}
	}
}

// msSinceStart gives a time in milliseconds since the run began; 0 for an earlier or unknown one.
func (x *Explanation) msSinceStart(at time.Time) int64 {
	return max(at.Sub(x.Run.StartedAt).Milliseconds(), 0)
}

// addEnding adds lines on how the run ended or why it waits; none while it continues.
func (x *Explanation) addEnding() {
	var ends []bt.Why
	switch {
	case x.waitReason.Text != "":
		ends = []bt.Why{storyWaits.With(x.waitReason)}
	case x.Run.Status == journal.Cancelled:
		ends = []bt.Why{storyStopped.With()}
	case x.Shown != nil && x.Shown.Failure != nil:
		ends = []bt.Why{storyEnded.With(x.Shown.Failure.Why())}
	case x.Shown != nil:
		ends = x.Shown.Came
	case x.Run.Status == journal.Failed && len(x.Ending) > 0:
		ends = []bt.Why{storyEnded.With(strings.Join(x.Ending, "; "))}
	}
	at := int64(0)
	if n := len(x.Steps); n > 0 {
		at = x.msSinceStart(x.Steps[n-1].At)
	}
	for _, why := range ends {
		x.Story = append(x.Story, Told{Step: max(len(x.Steps), 1), From: at, End: true, Why: why})
	}
}

// addNextMessage adds the user's reply to a run that ended with a question or with calls that wait: the message of the
// next run of its branch, if there is one.
func (s *Service) addNextMessage(ctx context.Context, owner journal.Owner, x *Explanation) error {
	if x.Shown == nil || !x.Shown.Asks && len(x.Shown.Waiting) == 0 {
		return nil
	}
	_, b, err := s.branch(ctx, owner, x.Run.Session, x.Run.ID)
	if err != nil {
		return err
	}
	for i, r := range b.runs[:max(len(b.runs)-1, 0)] {
		if r.ID == x.Run.ID {
			next := b.runs[i+1]
			last := x.Story[len(x.Story)-1]
			x.Story = append(x.Story, Told{Step: last.Step, From: last.From,
				Why: storySaid.With(text.Brief(next.Title, mostAsked)), Run: next.ID})
		}
	}
	return nil
}

// sumByPlace adds up what was sent to each place, in the order of the first time.
func sumByPlace(left []assistant.Left) []Sent {
	all, places := []Sent{}, map[[2]string]int{}
	for _, l := range left {
		place := [2]string{l.Kind, l.To}
		at, known := places[place]
		if !known {
			at = len(all)
			places[place], all = at, append(all, Sent{Kind: l.Kind, To: l.To})
		}
		all[at].Times++
		all[at].Bytes += l.Bytes
		all[at].Tokens += l.Tokens
	}
	return all
}
