package oracle

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"sibyl/internal/journal"
	"sibyl/internal/oracle/classify"
	"sibyl/internal/oracle/prompt"
	"sibyl/internal/run"
	"sibyl/internal/tool"
)

// Bounds of a question, in bytes, and of the turns of a run.
const (
	MaxQuestion = 256 << 10
	MostTurns   = 200
)

// Question is what a person asks, and on what.
type Question struct {
	Text     string
	Owner    journal.Owner
	Session  string
	MaxTurns int

	MaxTokens int           // tokens of all turns at most, cached ones aside; 0: no limit
	MaxTime   time.Duration // of the run; 0: no limit

	Classifier bool // one is configured for the fallback
	Env        Env  // Past is filled in by NewRun
	Tools      []tool.Spec
	TreeFile   string
	Tree       []byte
	Prompts    *prompt.Registry

	NewSession *journal.Session // made with the run; nil: Session is there already
}

// Check says what is wrong with a question before anything is kept of it.
func (q *Question) Check() error {
	q.Text = strings.TrimSpace(strings.ToValidUTF8(q.Text, "\uFFFD"))
	switch {
	case q.Text == "":
		return fmt.Errorf("the question is empty: write it as an argument, or pipe it in")
	case len(q.Text) > MaxQuestion:
		return fmt.Errorf("the question has %d bytes, at most %d are read: put the material into a file below --in, and ask about it",
			len(q.Text), MaxQuestion)
	case q.MaxTurns < 1 || q.MaxTurns > MostTurns:
		return fmt.Errorf("%d turns are not between 1 and %d", q.MaxTurns, MostTurns)
	case q.MaxTokens < 0 || q.MaxTime < 0:
		return fmt.Errorf("a budget of tokens or time can't be negative: leave it out for none")
	}
	return nil
}

// given is what a question gives its tree, without the past of its session.
func (q *Question) given() Given {
	return Given{Question: q.Text, Tools: FactsOf(q.Tools), MaxTurns: q.MaxTurns, MaxTokens: q.MaxTokens,
		MaxSeconds: int((q.MaxTime + time.Second - 1) / time.Second), Window: q.Env.WindowTokens, Classifier: q.Classifier}
}

// keptPast bounds how many earlier exchanges a continued session shows the model.
const keptPast = 12

// NewRun makes the run of a question; earlier runs of its session that gave an answer become its past.
func NewRun(ctx context.Context, store journal.Store, q Question) (run.Spec, error) {
	if err := q.Check(); err != nil {
		return run.Spec{}, err
	}
	given := q.given()
	past, err := Exchanges(ctx, store, q.Owner, q.Session)
	if err != nil {
		return run.Spec{}, err
	}
	q.Env.Past = nil
	var tokens []int // of each exchange that is kept
	for _, a := range past {
		if a.Answer == "" {
			continue
		}
		q.Env.Past = append(q.Env.Past, a.RunID)
		given.Previous = append(given.Previous, firstRunes(a.Question, 500))
		tokens = append(tokens, prompt.Tokens(a.Question)+prompt.Tokens(a.Answer))
		if a.QueryType != string(classify.Conversational) {
			given.PreviousType = a.QueryType
		}
	}
	if n := len(q.Env.Past); n > keptPast {
		q.Env.Past, given.Previous, tokens = q.Env.Past[n-keptPast:], given.Previous[n-keptPast:], tokens[n-keptPast:]
	}
	for _, n := range tokens {
		given.PastTokens += n
		given.LastTokens = n
	}
	return run.Spec{Owner: q.Owner, Session: q.Session, Assistant: Name, Title: Title(q.Text), TreeFile: q.TreeFile, Tree: q.Tree,
		Texts: []run.Text{{Name: SegmentsText, Content: q.Prompts.Encoded()}}, Env: q.Env, Given: given.keys(), NewSession: q.NewSession}, nil
}

// keys are what a run's tree is given.
func (g Given) keys() map[string]any {
	return map[string]any{"question": g.Question, "previous": g.Previous, "previous_type": g.PreviousType, "tools": g.Tools,
		"max_turns": g.MaxTurns, "max_tokens": g.MaxTokens, "max_seconds": g.MaxSeconds, "past_tokens": g.PastTokens, "last_tokens": g.LastTokens, "window": g.Window,
		"classifier": g.Classifier}
}

// Title is a question shortened to a line.
func Title(question string) string { return brief(question, 72) }

func firstRunes(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most])
}

// Exchanges gives the ended runs of a session as answers, oldest first.
func Exchanges(ctx context.Context, store journal.Store, owner journal.Owner, session string) ([]Answer, error) {
	runs, err := store.Runs(ctx, owner, journal.Filter{Session: session, Limit: 1000})
	if err != nil {
		return nil, err
	}
	var all []Answer
	for i := len(runs) - 1; i >= 0; i-- {
		r := runs[i]
		if r.Status == journal.Running || r.Assistant != Name {
			continue
		}
		_, end, err := run.ReadEnded(ctx, store, owner, r.ID)
		if err != nil {
			return nil, err
		}
		var a Answer
		if err := json.Unmarshal(end.Outcome, &a); err != nil {
			return nil, fmt.Errorf("run %s: %w: %w", r.ID, journal.ErrCorrupt, err)
		}
		all = append(all, a)
	}
	return all, nil
}
