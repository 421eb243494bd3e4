package oracle

import (
	"cmp"
	"slices"

	"sibyl/internal/oracle/classify"
	"sibyl/internal/tool"
)

// Accepted says which reply's text became the answer, which one's signal stands with it, and why the run stopped there.
type Accepted struct {
	Ref        int64  `json:"ref"`
	Also       int64  `json:"also,omitempty"` // a reply whose text stands below it
	By         int64  `json:"by,omitempty"`   // the reply that ended the run, if that is another
	StopReason string `json:"stop_reason"`
}

// The reasons to stop. Satisfied is an answer; partial, budget, stuck and loop are partial ones; needs_user is a
// question.
const (
	StopSatisfied = "satisfied"
	StopPartial   = "partial"
	StopBudget    = "budget"
	StopStuck     = "stuck"
	StopError     = "error"
	StopRefused   = "refused"
	StopCancelled = "cancelled"
	StopLoop      = "loop"
	StopNeedsUser = "needs_user"
	StopSuspended = "suspended" // it has not ended: the model does not answer for now, and the run can be resumed
)

// likely is how probable it is that the answer stands in a source. A change is one of notes.
func likely(c classify.Classification, s tool.Source) float64 {
	switch s {
	case tool.Code:
		return c.Probabilities[classify.Code]
	case tool.Vault:
		return c.Probabilities[classify.Documentation] + c.Probabilities[classify.Action]
	case tool.Web:
		return c.Probabilities[classify.Research]
	}
	return 0
}

// kin are the sources by how near they stand to what a type is about.
func kin(t classify.Type) []tool.Source {
	switch t {
	case classify.Documentation, classify.Action:
		return []tool.Source{tool.Vault, tool.Code, tool.Web}
	case classify.Research:
		return []tool.Source{tool.Web, tool.Vault, tool.Code}
	}
	return []tool.Source{tool.Code, tool.Vault, tool.Web}
}

// sourceOrder is where an answer may stand: first what is probable, the likeliest before others, then what stands near.
func sourceOrder(c classify.Classification) []tool.Source {
	order := kin(c.QueryType)
	probable := func(s tool.Source) float64 {
		if p := likely(c, s); p >= OfferFrom {
			return p
		}
		return 0
	}
	slices.SortStableFunc(order, func(a, b tool.Source) int { return cmp.Compare(probable(b), probable(a)) })
	return order
}
