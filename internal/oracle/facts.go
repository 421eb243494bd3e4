package oracle

import (
	"cmp"
	"slices"

	"sibyl/internal/oracle/classify"
	"sibyl/internal/tool"
)

// Accepted says which reply's text became the answer, and why the run stopped there.
type Accepted struct {
	Ref        int64  `json:"ref"`
	Also       int64  `json:"also,omitempty"` // a reply whose text is added below
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
	StopSuspended = "suspended" // the run has not ended: its model is unavailable for now
)

// likely is the probability that a source has the answer. Changes are counted for the notes.
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

// sourcesByNearness are all sources, those nearest to the subject of a type first.
func sourcesByNearness(t classify.Type) []tool.Source {
	switch t {
	case classify.Documentation, classify.Action:
		return []tool.Source{tool.Vault, tool.Code, tool.Web}
	case classify.Research:
		return []tool.Source{tool.Web, tool.Vault, tool.Code}
	}
	return []tool.Source{tool.Code, tool.Vault, tool.Web}
}

// sourceOrder are all sources: those of probability OfferFrom or more, the likeliest first; then by nearness.
func sourceOrder(c classify.Classification) []tool.Source {
	order := sourcesByNearness(c.QueryType)
	probable := func(s tool.Source) float64 {
		if p := likely(c, s); p >= OfferFrom {
			return p
		}
		return 0
	}
	slices.SortStableFunc(order, func(a, b tool.Source) int { return cmp.Compare(probable(b), probable(a)) })
	return order
}
