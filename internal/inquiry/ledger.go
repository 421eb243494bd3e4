package inquiry

import (
	"slices"

	"sibyl/internal/bt"
	"sibyl/internal/inquiry/record"
	"sibyl/internal/inquiry/rules"
)

// Ledger is what is open after the last pair, as the tree knows it: kinds and places, and no words.
type Ledger struct {
	Pairs          int   `json:"pairs"`
	Completeness   int   `json:"completeness"`
	Satisfied      bool  `json:"satisfied,omitempty"`
	Open           []Due `json:"open,omitempty"`
	Contradictions int   `json:"contradictions,omitempty"`
	Suspicions     int   `json:"suspicions,omitempty"`
	Stale          int   `json:"stale,omitempty"` // pairs in a row by which nothing has changed
}

// Due is an open gap.
type Due struct {
	ID       string `json:"id"`
	Category string `json:"category"`
	Severity string `json:"severity"`
	Aspect   string `json:"aspect,omitempty"`
}

// ledgerOf is the ledger after one more pair.
func ledgerOf(before Ledger, pairs int, r AnalyseReceipt) Ledger {
	l := Ledger{Pairs: pairs, Completeness: r.Analysis.Completeness, Satisfied: r.satisfied(), Contradictions: len(r.Analysis.Contradictions), Suspicions: len(r.Analysis.Suspicions)}
	for _, g := range r.Analysis.Gaps {
		l.Open = append(l.Open, Due{g.ID, g.Category, g.Severity, g.Aspect})
	}
	if pairs > 1 && l.Completeness <= before.Completeness && slices.Equal(l.Open, before.Open) && l.Contradictions == before.Contradictions && l.Suspicions == before.Suspicions {
		l.Stale = before.Stale + 1
	}
	return l
}

// count is how many gaps of a severity are open.
func (l *Ledger) count(severity string) (n int) {
	for _, d := range l.Open {
		if d.Severity == severity {
			n++
		}
	}
	return n
}

// Why the next question is put as it is.
const (
	whyClash   bt.Reason = "answers that seem to clash: %d"
	whyFirst   bt.Reason = "question %d of the first %d"
	whySevere  bt.Reason = "severe gaps that are open: %d"
	whyWhen    bt.Reason = "it is open when things happened"
	whyOpen    bt.Reason = "gaps that are open: %d"
	whyNothing bt.Reason = "nothing is open that was asked for"
)

func whys() []bt.Reason {
	return []bt.Reason{whyClash, whyFirst, whySevere, whyWhen, whyOpen, whyNothing}
}

// strategy is how the next question is put, and why.
func (l *Ledger) strategy(breadth int) (name, why string) {
	high, timely := l.count(string(record.High)), slices.ContainsFunc(l.Open, func(d Due) bool { return d.Aspect == "when" })
	switch {
	case l.Suspicions > 0:
		return "contradiction", whyClash.With(l.Suspicions)
	case l.Pairs < breadth:
		return "breadth", whyFirst.With(l.Pairs+1, breadth)
	case high > 0:
		return "depth", whySevere.With(high)
	case timely:
		return "timeline", whyWhen.With()
	case len(l.Open) > 0:
		return "depth", whyOpen.With(len(l.Open))
	}
	return "breadth", whyNothing.With()
}

func updateLedger() bt.Leaf {
	type in struct {
		Ledger Ledger `port:"ledger"`
		Most   int    `port:"stale" default:"3" between:"1 20" doc:"pairs in a row by which nothing may change"`
	}
	type out struct {
		Done   bool   `port:"done"`
		Reason string `port:"reason"`
	}
	return bt.Func("Judge", "Ends the questioning when the detective is satisfied, or nothing has changed for some pairs.", func(i in, o *out) error {
		switch {
		case i.Ledger.Satisfied:
			o.Done, o.Reason = true, string(record.Satisfied)
		case i.Ledger.Stale >= i.Most:
			o.Done, o.Reason = true, string(record.NoProgress)
		}
		return nil
	})
}

func closeCase() bt.Leaf {
	type in struct {
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
		case len(i.Turns) >= i.Limit:
			o.Reason = string(record.Limit)
		default: // the tree did not go on, and nothing says why
			o.Reason = string(record.Broken)
		}
		o.Events = []bt.Typed{Ended{o.Reason}}
		return nil
	})
}

// open says whether a gap is open.
func (r *AnalyseReceipt) open(id string) bool {
	return slices.ContainsFunc(r.Analysis.Gaps, func(g rules.Gap) bool { return g.ID == id })
}
