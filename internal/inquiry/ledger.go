package inquiry

import (
	"slices"

	"sibyl/internal/agent"
	"sibyl/internal/bt"
	"sibyl/internal/inquiry/record"
	"sibyl/internal/text"
)

// Ledger counts what is open after the last analysis, for the tree. It has no words.
type Ledger struct {
	Pairs        int      `json:"pairs"`
	Completeness int      `json:"completeness"`
	Best         int      `json:"best"` // the highest completeness so far
	Satisfied    bool     `json:"satisfied,omitempty"`
	Open         []string `json:"open,omitempty"`       // gaps by their folded words, as hashes, in order
	Found        int      `json:"found,omitempty"`      // findings of any kind
	TakenBack    int      `json:"taken_back,omitempty"` // findings that the witness took back
	Waiting      int      `json:"waiting,omitempty"`    // findings that the witness was not asked about
	Stale        int      `json:"stale,omitempty"`      // analyses in a row that brought nothing new
}

// nextLedger is the ledger after one more analysis. An analysis is stale unless the set of gaps, by their words, or the
// number of findings changed, or the completeness is the highest so far.
func nextLedger(before Ledger, pairs int, r AnalyseReceipt) Ledger {
	a := r.Analysis
	l := Ledger{Pairs: pairs, Completeness: a.Completeness, Best: max(before.Best, a.Completeness),
		Satisfied: r.satisfied(), Waiting: len(a.Waiting)}
	l.Found = len(a.Contradictions) + len(a.Waiting) + len(a.Unverified)
	l.TakenBack = len(a.TakenBack)
	for _, g := range a.Gaps {
		l.Open = append(l.Open, agent.Digest(text.Fold(g.Description)))
	}
	slices.Sort(l.Open)
	if !r.judged() {
		return l
	}
	same := l.Best == before.Best && l.Found == before.Found && l.TakenBack == before.TakenBack &&
		slices.Equal(l.Open, before.Open)
	if same && before.Pairs > 0 {
		l.Stale = before.Stale + 1
	}
	return l
}

// The strategies of the tree. For a choice, the question's receipt says what the model chose.
const (
	strategyContradiction = "contradiction"
	strategyChoice        = "choice"
	strategyTemplate      = "template"
)

func strategyLeaf() bt.Leaf {
	type in struct {
		Model  bool   `port:"model"`
		Ledger Ledger `port:"ledger,optional"`
	}
	type out struct {
		Strategy string `port:"strategy"`
	}
	doc := "Chooses how the next question is put: contradictions first, else the " +
		"model's own choice; without a model, templates."
	return bt.Func("ChooseStrategy", doc, func(i in, o *out) error {
		switch {
		case !i.Model:
			o.Strategy = strategyTemplate
		case i.Ledger.Waiting > 0:
			o.Strategy = strategyContradiction
		default:
			o.Strategy = strategyChoice
		}
		return nil
	})
}

func judgeLeaf() bt.Leaf {
	type in struct {
		Ledger Ledger `port:"ledger,optional"`
		Most   int    `port:"stale" default:"3" between:"1 20" doc:"analyses in a row that may bring nothing new"`
	}
	type out struct {
		Done   bool   `port:"done"`
		Reason string `port:"reason"`
	}
	return bt.Func("Judge", "Ends the questioning when the detective is satisfied, or some analyses have brought "+
		"nothing new.", func(i in, o *out) error {
		switch {
		case i.Ledger.Satisfied:
			o.Done, o.Reason = true, string(record.Satisfied)
		case i.Ledger.Stale >= i.Most:
			o.Done, o.Reason = true, string(record.NoProgress)
		}
		return nil
	})
}

func closeLeaf() bt.Leaf {
	type in struct {
		Model   bool   `port:"model"`
		Reason  string `port:"reason,optional"`
		Failure string `port:"failure,optional" doc:"the kind of the fault that ended it"`
		Turns   []Turn `port:"turns,optional"`
		Limit   int    `port:"limit"`
	}
	type out struct {
		Reason string     `port:"reason"`
		Events []bt.Typed `port:",events"`
	}
	return bt.Func("CloseCase", "Says why the questioning ended.", func(i in, o *out) error {
		switch {
		case i.Failure == "timeout":
			o.Reason = string(record.TimedOut)
		case i.Failure != "":
			o.Reason = string(record.Broken)
		case i.Reason != "":
		case len(i.Turns) >= i.Limit && i.Model:
			o.Reason = string(record.Limit)
		case len(i.Turns) >= i.Limit:
			o.Reason = string(record.Collected)
		default: // the tree stopped asking without a reason
			o.Reason = string(record.Broken)
		}
		o.Events = []bt.Typed{Ended{o.Reason}}
		return nil
	})
}
