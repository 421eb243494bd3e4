package oracle

import (
	"sibyl/internal/oracle/classify"
	"sibyl/internal/tool"
)

// Accepted is the reply that became the answer, and why the run stopped there.
type Accepted struct {
	Ref        int64  `json:"ref"`
	StopReason string `json:"stop_reason"`
}

// The reasons to stop. Satisfied is an answer; partial, budget, stuck and loop are partial ones; needs_user is a question.
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
)

// sourceOrder is where an answer may stand, by class: the first is offered, the others are tried when it has nothing.
func sourceOrder(c classify.Classification) []tool.Source {
	order := func(t classify.Type) []tool.Source {
		switch t {
		case classify.Code:
			return []tool.Source{tool.Code, tool.Vault, tool.Web}
		case classify.Documentation, classify.Action:
			return []tool.Source{tool.Vault, tool.Code, tool.Web}
		case classify.Research:
			return []tool.Source{tool.Web, tool.Vault, tool.Code}
		}
		return nil
	}
	first := order(c.QueryType)
	if first == nil {
		first = order(c.Secondary)
	}
	if first == nil {
		return []tool.Source{tool.Code, tool.Vault, tool.Web}
	}
	if second := order(c.Secondary); second != nil && len(first) > 1 && second[0] != first[0] {
		rest := []tool.Source{first[0], second[0]}
		for _, s := range first[1:] {
			if s != second[0] {
				rest = append(rest, s)
			}
		}
		return rest
	}
	return first
}
