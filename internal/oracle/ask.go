package oracle

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"sibyl/internal/agent"
	"sibyl/internal/assistant"
	"sibyl/internal/journal"
	"sibyl/internal/oracle/classify"
	"sibyl/internal/oracle/prompt"
	"sibyl/internal/run"
	"sibyl/internal/text"
	"sibyl/internal/tool"
)

// Bounds of a question, in bytes, and of the turns of a run.
const (
	MaxQuestion = 256 << 10
	MaxMaterial = 256 << 10
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
	Prompts    *prompt.Set

	NewSession *journal.Session // made with the run; nil: Session is there already

	Piped    bool          // Text itself was piped in
	Material string        // that was piped in or attached, and that Text is about; at most MaxMaterial bytes
	Named    []tool.Source // that the person named: they are searched before nothing is said to be found
	Likely   []tool.Source // the folder that the person stands in: it is searched where nothing likelier can be
	Late     bool          // another run of the session has gone on since the words were said: they are no answer to what it asked
	Relayed  bool          // a program passes the words on, and may have made them: they are no yes
}

// Check says what is wrong with a question before anything is kept of it.
func (q *Question) Check() error {
	q.Text = strings.TrimSpace(strings.ToValidUTF8(q.Text, "\uFFFD"))
	q.Material = strings.ToValidUTF8(q.Material, "\uFFFD")
	switch {
	case q.Text == "":
		return fmt.Errorf("the question is empty: give it as an argument, or pipe it in")
	case len(q.Text) > MaxQuestion:
		return fmt.Errorf("the question has %d bytes, more than the limit of %d: put the material in a file under --in and ask about it",
			len(q.Text), MaxQuestion)
	case len(q.Material) > MaxMaterial:
		return fmt.Errorf("the attachment has %d bytes, more than the limit of %d: put it in a folder and ask with --in", len(q.Material), MaxMaterial)
	case q.MaxTurns < 1 || q.MaxTurns > MostTurns:
		return fmt.Errorf("%d turns requested; use 1 to %d", q.MaxTurns, MostTurns)
	case q.MaxTokens < 0 || q.MaxTime < 0:
		return fmt.Errorf("a token or time budget can't be negative: leave it out for no limit")
	}
	return nil
}

// given is what a question gives its tree, without the past of its session.
func (q *Question) given() Given {
	g := Given{Said: agent.Said{Piped: q.Piped, Relayed: q.Relayed}, Named: q.Named, Likely: q.Likely, Question: q.Text, Tools: agent.FactsOf(q.Tools), MaxTurns: q.MaxTurns, MaxTokens: q.MaxTokens,
		MaxSeconds: int((q.MaxTime + time.Second - 1) / time.Second), Window: q.Env.WindowTokens, Classifier: q.Classifier, BareCalls: q.Env.BareCalls}
	if q.Piped || q.Material != "" {
		g.Ledger.Labels = agent.LabelledAs(agent.Stranger, true)
	}
	if q.Material != "" { // it is read already
		for _, p := range splitMaterial(q.Material) {
			g.Ledger.Opened = append(g.Ledger.Opened, p.ref().String())
		}
	}
	return g
}

// keptPast bounds how many earlier exchanges a continued session shows the model, and mostPrevious how much of each question is read to classify the next
// one, in bytes.
const (
	keptPast     = 12
	mostPrevious = 1 << 10
)

// NewRun makes the run of a question; the last runs of its session that gave an answer become its past.
func NewRun(ctx context.Context, store journal.Store, q Question) (run.Spec, error) {
	if err := q.Check(); err != nil {
		return run.Spec{}, err
	}
	given := q.given()
	var err error
	if q.Env.Past, err = given.remember(ctx, store, q); err != nil {
		return run.Spec{}, err
	}
	consume, err := given.allow(ctx, store, q)
	if err != nil {
		return run.Spec{}, err
	}
	texts := []run.Text{{Name: SegmentsText, Content: q.Prompts.Encoded()}, agent.ToolText(q.Tools)}
	if q.Material != "" {
		texts, q.Env.Material = append(texts, run.Text{Name: MaterialText, Content: []byte(q.Material)}), len(q.Material)
		q.Env.Parts = splitMaterial(q.Material)
	}
	return run.Spec{Consume: consume, Owner: q.Owner, Session: q.Session, NewSession: q.NewSession, Assistant: Name, Title: Title(q.Text), Place: q.Env.CodeRoot, TreeFile: q.TreeFile, Tree: q.Tree,
		Texts: texts, Env: q.Env, Given: given}, nil
}

// remember takes in the last exchanges of the question's session, and gives their runs, oldest first.
func (g *Given) remember(ctx context.Context, store journal.Store, q Question) ([]string, error) {
	if q.Session == "" || q.NewSession != nil { // no session selects the runs of all
		return nil, nil
	}
	var past []string
	var exchanges []Exchange
	left := false // what is before belongs to a topic that the session has left
	f := journal.Filter{Session: q.Session, Assistant: Name, Summaries: true, Limit: 2 * keptPast}
	for {
		runs, err := store.Runs(ctx, q.Owner, f)
		if err != nil {
			return nil, err
		}
		for _, r := range runs {
			if r.Status == journal.Running || len(past) == keptPast {
				continue
			}
			e, err := exchangeOf(r)
			if err != nil {
				return nil, err
			}
			if e.Answer != "" && !left {
				past, exchanges = append(past, r.ID), append(exchanges, e)
				left = e.Shift
			}
		}
		if left || len(past) == keptPast || len(runs) < f.Limit {
			break
		}
		f.After = runs[len(runs)-1].Cursor()
	}
	slices.Reverse(past)
	for _, e := range slices.Backward(exchanges) {
		if !e.Piped && (!e.Relayed || q.Relayed) {
			g.Previous = append(g.Previous, text.Clip(e.Question, mostPrevious))
		}
		g.PastTokens += e.Tokens
		g.LastTokens = e.Tokens
		g.Ledger.Labels = g.Ledger.Labels.Join(e.labels())
		g.Ledger.Know(e.Addresses...)
		if e.QueryType != string(classify.Conversational) {
			g.PreviousType = e.QueryType
		}
	}
	return past, nil
}

// allow takes in what the person has said yes to, of what the last run of the session asked. It gives the row that is used up by it.
func (g *Given) allow(ctx context.Context, store journal.Store, q Question) (consume []string, err error) {
	if q.Session == "" || q.NewSession != nil || q.Late || q.Relayed || q.Piped || len(q.Env.Past) == 0 {
		return nil, nil
	}
	rows, err := store.Pending(ctx, q.Owner, q.Session, time.Now())
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		if row.Kind != kindAllow || row.Run != q.Env.Past[len(q.Env.Past)-1] || time.Since(row.CreatedAt) > allowFor {
			continue
		}
		var left leaving
		if err := json.Unmarshal(row.Data, &left); err != nil {
			return nil, fmt.Errorf("pending row %s: %w: %w", row.ID, journal.ErrCorrupt, err)
		}
		yes := agent.SaidYes(q.Text, left.Waiting, left.Asked)
		if yes == nil {
			continue
		}
		if left.Vault != q.Env.Vault && slices.ContainsFunc(yes, func(w agent.Waiting) bool { return w.Write }) {
			return nil, &assistant.RequestError{Public: "you approved a write to a different folder of notes", Hint: "name the same notes again",
				Err: fmt.Errorf("the write was to %s, but the notes are now %s", cmp.Or(left.Vault, "no notes"), cmp.Or(q.Env.Vault, "none"))}
		}
		g.Said.Yes, g.Said.For, consume = yes, left.Question, append(consume, row.ID)
	}
	return consume, nil
}

// kindAllow is the kind of a pending row that asks for a yes to calls, and allowFor is how long one may be given.
const (
	kindAllow = "oracle.allow"
	allowFor  = 24 * time.Hour
)

// leaving is what such a row holds.
type leaving struct {
	Question string          `json:"question"` // that they were proposed for
	Waiting  []agent.Waiting `json:"waiting"`
	Asked    bool            `json:"asked,omitempty"` // the answer asked the person something else
	Vault    string          `json:"vault,omitempty"` // the folder of notes that was there
}

// row is what a run leaves that holds calls; none without.
func (a *Answer) row(env Env) []journal.Pending {
	data, err := json.Marshal(leaving{a.Question, a.Waiting, a.Asked, env.Vault})
	if len(a.Waiting) == 0 || err != nil { // texts, which are JSON
		return nil
	}
	return []journal.Pending{{ID: a.RunID, Kind: kindAllow, Data: data}}
}

// Title is a question shortened to a line.
func Title(question string) string { return text.Brief(question, 72) }
