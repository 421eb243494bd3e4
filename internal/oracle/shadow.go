package oracle

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sibyl/internal/journal"
	"sibyl/internal/run"
)

// A shadow answers the question of another run with another tree, for comparison (docs/requirements.md, FR-010). It
// reads as the other did, and writes nothing: a tool that writes returns “recorded, not performed”.
const (
	ShadowName = "oracle.shadow" // the assistant of shadows, and of the sessions that hold them
	ShadowTree = "baseline"
)

// Shadow is the assistant that answers as a shadow, under a name of its own: its sessions are not the person's.
func Shadow(of *run.Assistant) *run.Assistant {
	shadow := *of
	shadow.Name = ShadowName
	return &shadow
}

// NewShadow makes the shadow of a run.
func NewShadow(of run.Spec, runID string) (run.Spec, error) {
	env, ok := of.Env.(Env)
	if !ok {
		return run.Spec{}, fmt.Errorf("a run of %s can't have a shadow", of.Assistant)
	}
	env.ShadowOf = runID
	of.Title, of.Env, of.Session = "shadow of "+of.Title, env, "" // it gets its own
	of.Consume = nil
	if g, ok := of.Given.(Given); ok { // an approval is for the run itself
		g.Said.Yes = nil
		of.Given = g
	}
	return of, nil
}

// ComparedAnswer is one of the two compared answers to a question.
type ComparedAnswer struct {
	RunID       string         `json:"run_id"`
	Model       string         `json:"model"`
	StopReason  string         `json:"stop_reason"`
	Turns       int            `json:"turns"`
	Calls       map[string]int `json:"calls"` // by tool
	ToolCalls   int            `json:"tool_calls"`
	Unnecessary int            `json:"unnecessary_calls"` // whose result no citation of the answer uses
	Tokens      int            `json:"tokens"`
	TookMS      int64          `json:"took_ms"`
	Signals     map[string]int `json:"signals"` // by type
	Cited       []string       `json:"cited"`
	Answer      string         `json:"answer"`
}

// Pair is a run and its shadow.
type Pair struct {
	Question string         `json:"question"`
	Ours     ComparedAnswer `json:"ours"`
	Shadow   ComparedAnswer `json:"shadow"`
}

func sideOf(a Answer) ComparedAnswer {
	s := ComparedAnswer{RunID: a.RunID, Model: a.Model, StopReason: a.StopReason, Turns: a.Turns, Calls: map[string]int{},
		ToolCalls:   len(a.ToolCalls),
		Unnecessary: a.Unnecessary(), Tokens: a.Usage.InputTokens + a.Usage.OutputTokens, TookMS: a.TookMS,
		Signals: map[string]int{}, Cited: []string{}, Answer: a.Answer}
	for _, c := range a.ToolCalls {
		s.Calls[c.Name]++
	}
	for _, sig := range a.Signals {
		s.Signals[string(sig.Type)]++
	}
	cited, _ := a.placesRead()
	s.Cited = append(s.Cited, cited...)
	return s
}

// outcomeReader reads the outcome of a run; journal.ErrNotFound if there is no such run, or it has not ended.
type outcomeReader = func(run string) (json.RawMessage, error)

// PairsOf pairs shadows, whose rows have their summaries, with their runs: at most so many, in the given order. skipped
// counts those that can't be compared: one of the two runs was removed, has not ended, or was stopped or failed.
func PairsOf(shadows []journal.Run, outcome outcomeReader, most int) (pairs []Pair, skipped int, err error) {
	for _, r := range shadows {
		if len(pairs) == most {
			break
		}
		p, err := PairOf(r, outcome)
		switch {
		case errors.Is(err, journal.ErrNotFound):
			skipped++
		case err == nil && (p.Ours.wasCutShort() || p.Shadow.wasCutShort()):
			skipped++
		case err != nil:
			return nil, 0, err
		default:
			pairs = append(pairs, p)
		}
	}
	return pairs, skipped, nil
}

// wasCutShort says whether a run was stopped or failed, so that its figures can't be compared.
func (s *ComparedAnswer) wasCutShort() bool {
	return s.StopReason == StopCancelled || s.StopReason == StopError || s.StopReason == StopRefused
}

// PairOf pairs a shadow, whose row has its summary, with its run; journal.ErrNotFound if one is missing or has not
// ended.
func PairOf(shadow journal.Run, outcome outcomeReader) (Pair, error) {
	theirs, err := answerOf(shadow.ID, outcome)
	if err != nil {
		return Pair{}, err
	}
	of, err := exchangeOf(shadow)
	if err != nil {
		return Pair{}, err
	}
	ours, err := answerOf(of.ShadowOf, outcome)
	return Pair{Question: ours.Question, Ours: sideOf(ours), Shadow: sideOf(theirs)}, err
}

func answerOf(id string, outcome outcomeReader) (Answer, error) {
	raw, err := outcome(id)
	if err != nil {
		return Answer{}, err
	}
	a, err := ReadAnswer(raw)
	if err != nil {
		return a, fmt.Errorf("run %s: %w: %w", id, journal.ErrCorrupt, err)
	}
	return a, nil
}

// Compared is one figure over all pairs: the medians of both sides, and in how many pairs ours is lower, and higher.
type Compared struct {
	What   string  `json:"what"`
	Ours   float64 `json:"ours"`
	Shadow float64 `json:"shadow"`
	Lower  int     `json:"lower"`
	Higher int     `json:"higher"`
}

// Compare computes the figures of at least one pair.
func Compare(pairs []Pair) []Compared {
	figures := []struct {
		what string
		of   func(ComparedAnswer) float64
	}{
		{"turns", func(s ComparedAnswer) float64 { return float64(s.Turns) }},
		{"tool calls", func(s ComparedAnswer) float64 { return float64(s.ToolCalls) }},
		{"unnecessary calls", func(s ComparedAnswer) float64 { return float64(s.Unnecessary) }},
		{"tokens", func(s ComparedAnswer) float64 { return float64(s.Tokens) }},
		{"time, ms", func(s ComparedAnswer) float64 { return float64(s.TookMS) }},
		{"places cited", func(s ComparedAnswer) float64 { return float64(len(s.Cited)) }},
	}
	var all []Compared
	for _, f := range figures {
		c := Compared{What: f.what}
		var ours, theirs []float64
		for _, p := range pairs {
			a, b := f.of(p.Ours), f.of(p.Shadow)
			ours, theirs = append(ours, a), append(theirs, b)
			switch {
			case a < b:
				c.Lower++
			case a > b:
				c.Higher++
			}
		}
		c.Ours, c.Shadow = median(ours), median(theirs)
		all = append(all, c)
	}
	return all
}

func median(of []float64) float64 {
	slices.Sort(of)
	n := len(of)
	return (of[(n-1)/2] + of[n/2]) / 2
}

// FormatCounts lists counts by name: "code_read 4, code_search 1".
func FormatCounts(counts map[string]int) string {
	names := slices.Sorted(maps.Keys(counts))
	for i, n := range names {
		names[i] = fmt.Sprintf("%s %d", n, counts[n])
	}
	if names == nil {
		return "none"
	}
	return strings.Join(names, ", ")
}
