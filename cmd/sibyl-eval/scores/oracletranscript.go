package eval

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"sibyl/internal/model"
	"sibyl/internal/oracle"
	"sibyl/internal/signal"
)

// Transcript is a model that misbehaves: what it says turn by turn, whatever it is told, and how a run must cope.
type Transcript struct {
	ID       string       `json:"id"`
	Kind     string       `json:"kind"`
	Question string       `json:"question"`
	Script   []ScriptTurn `json:"script"`
	Expect   Expectation  `json:"expect"`
}

// ScriptTurn is what the model says in one turn: Text, repeated TextTimes times, then TextEnd, and its calls. It is
// played Repeat times. In texts and arguments {{turn}} becomes the turn's number, from 1.
type ScriptTurn struct {
	Text      string       `json:"text,omitempty"`
	TextTimes int          `json:"text_times,omitempty"` // 0: once
	TextEnd   string       `json:"text_end,omitempty"`
	Calls     []ScriptCall `json:"calls,omitempty"`
	Repeat    Repeat       `json:"repeat,omitempty"` // 0: once
}

// ScriptCall is a proposed call. Args is the text that the model wrote: it may not be JSON.
type ScriptCall struct {
	Name  string `json:"name"`
	Args  string `json:"args"`
	Times int    `json:"times,omitempty"` // 0: once
}

// Repeat counts how often a turn is played.
type Repeat int

// Forever repeats a turn as long as anybody asks.
const Forever Repeat = -1

// UnmarshalJSON reads a number or "forever".
func (r *Repeat) UnmarshalJSON(data []byte) error {
	if string(data) == `"forever"` {
		*r = Forever
		return nil
	}
	var n int
	if err := json.Unmarshal(data, &n); err != nil || n < 1 {
		return fmt.Errorf(`"repeat" is %s; it must be a number of turns or "forever"`, data)
	}
	*r = Repeat(n)
	return nil
}

// Expectation is how a run copes with a transcript. Answered says whether the person gets words of the model: true even
// where they are marked as partial, false where Sibyl itself sums up. Refused names tools of which no call may be
// performed.
type Expectation struct {
	StopReasons []string `json:"stop_reason"`
	MaxTurns    int      `json:"max_turns_used"`
	Answered    bool     `json:"answered"`
	Refused     []string `json:"refused,omitempty"`
	Notes       string   `json:"notes,omitempty"`
}

// LoadTranscripts reads a set in JSON lines; an error names the line that is wrong and what it lacks.
func LoadTranscripts(files fs.FS, name string) ([]Transcript, error) {
	return LoadSet(files, name, WithID(func(t Transcript) string { return t.ID }, func(t Transcript) error {
		if len(t.Script) == 0 || len(t.Expect.StopReasons) == 0 || t.Expect.MaxTurns < 1 {
			return errors.New(`it needs a "script", and in "expect" a "stop_reason" and "max_turns_used"`)
		}
		return nil
	}))
}

// Turn is what the model says in its nth turn, from 1. After the end of the script it says nothing.
func (t Transcript) Turn(n int) model.Response {
	left := n
	for _, s := range t.Script {
		times := max(int(s.Repeat), 1)
		if s.Repeat == Forever || left <= times {
			return s.response(n)
		}
		left -= times
	}
	return model.Response{Finish: model.FinishStop}
}

func (s ScriptTurn) response(n int) model.Response {
	fill := func(text string) string { return strings.ReplaceAll(text, "{{turn}}", strconv.Itoa(n)) }
	r := model.Response{Text: fill(strings.Repeat(s.Text, max(s.TextTimes, 1)) + s.TextEnd), Finish: model.FinishStop}
	for _, c := range s.Calls {
		for range max(c.Times, 1) {
			id := fmt.Sprintf("call_%d_%d", n, len(r.ToolCalls)+1)
			r.ToolCalls = append(r.ToolCalls, model.ToolCall{ID: id, Name: c.Name, Arguments: fill(c.Args)})
			r.Finish = model.FinishTools
		}
	}
	return r
}

// wrote says whether the beginning of a text is the model's own, told in one of its first turns.
func (t Transcript) wrote(text string, turns int) bool {
	first, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if runes := []rune(first); len(runes) > 40 {
		first = string(runes[:40])
	}
	if first == "" {
		return false
	}
	for n := 1; n <= turns; n++ {
		if words, _ := signal.Extract(t.Turn(n).Text); strings.Contains(words, first) {
			return true
		}
	}
	return false
}

// TranscriptScore is how a run coped with one transcript.
type TranscriptScore struct {
	ID           string   `json:"id"`
	Kind         string   `json:"kind"`
	StopReason   string   `json:"stop_reason"`
	Turns        int      `json:"turns"`
	Calls        int      `json:"calls"`
	Answered     bool     `json:"answered"`
	WithinBudget bool     `json:"within_budget"`
	Met          bool     `json:"met"`
	Why          []string `json:"why,omitempty"` // what was not as expected
}

// ScoreTranscript compares a run with what the transcript expects. Beside the labels it expects what holds of every
// run: that the end lies within the budget, and that no markup of a signal is shown (FR-005).
func ScoreTranscript(t Transcript, a oracle.Answer) TranscriptScore {
	s := TranscriptScore{ID: t.ID, Kind: t.Kind, StopReason: a.StopReason, Turns: a.Turns, Calls: len(a.ToolCalls),
		Answered: t.wrote(a.Answer, a.Turns), WithinBudget: withinBudget(a)}
	fail := func(format string, args ...any) { s.Why = append(s.Why, fmt.Sprintf(format, args...)) }
	if !slices.Contains(t.Expect.StopReasons, a.StopReason) {
		fail("ended %s, not %s", a.StopReason, strings.Join(t.Expect.StopReasons, " or "))
	}
	if a.Turns > t.Expect.MaxTurns {
		fail("%d turns, at most %d expected", a.Turns, t.Expect.MaxTurns)
	}
	switch {
	case t.Expect.Answered && !s.Answered:
		fail("the model's words were not shown")
	case !t.Expect.Answered && s.Answered:
		fail("the model's words were shown for an answer")
	}
	for _, c := range a.ToolCalls {
		if slices.Contains(t.Expect.Refused, c.Name) && performed(c) {
			fail("%s was performed", c.Name)
		}
	}
	if strings.Contains(oracle.WithoutFences(a.Answer), "<signal") {
		fail("markup of a signal is shown")
	}
	s.Met = len(s.Why) == 0
	return s
}

// Player is a model that plays a transcript, turn by turn, in the order in which it is asked. It is safe for concurrent
// use.
type Player struct {
	transcript Transcript
	asked      atomic.Int64
}

// NewPlayer returns a local model called "transcript:" and the transcript's id.
func NewPlayer(t Transcript) *Player { return &Player{transcript: t} }

// PlayerProvider is the provider part of a player's id.
const PlayerProvider = "transcript"

// ID implements model.Model.
func (p *Player) ID() string { return PlayerProvider + ":" + p.transcript.ID }

// Local implements model.Model.
func (p *Player) Local() bool { return true }

// Chat plays the next turn, its text in pieces as from a hosted model, so that signals are cut at odd places.
func (p *Player) Chat(ctx context.Context, _ model.Request, emit func(model.Delta) error) (model.Response, error) {
	if err := ctx.Err(); err != nil {
		return model.Response{Model: p.ID()}, &model.Error{Kind: model.KindOf(err), Model: p.ID(), Err: err}
	}
	r := p.transcript.Turn(int(p.asked.Add(1)))
	r.Model, r.Attempts = p.ID(), 1
	sent := 0
	for piece := range slices.Chunk([]rune(r.Text), 97) {
		if emit == nil {
			break
		}
		if err := emit(model.Delta{Text: string(piece)}); err != nil {
			return model.Response{Text: r.Text[:sent], Model: p.ID()},
				fmt.Errorf("playing %s: %w", p.transcript.ID, err)
		}
		sent += len(string(piece))
	}
	return r, nil
}
