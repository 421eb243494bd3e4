package oracle

import (
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
	StopSuspended = "suspended" // it has not ended: the model does not answer for now, and the run can be resumed
)

// sourceOrders are the places where an answer may stand, by the type of the question.
var sourceOrders = map[classify.Type][]tool.Source{
	classify.Code:          {tool.Code, tool.Vault, tool.Web},
	classify.Documentation: {tool.Vault, tool.Code, tool.Web},
	classify.Action:        {tool.Vault, tool.Code, tool.Web},
	classify.Research:      {tool.Web, tool.Vault, tool.Code},
}

// sourceOrder is where an answer may stand, by class: the first is offered, the others are tried when it has nothing.
func sourceOrder(c classify.Classification) (order []tool.Source) {
	first, second := sourceOrders[c.QueryType], sourceOrders[c.Secondary]
	switch {
	case first == nil && second == nil:
		return sourceOrders[classify.Code]
	case first == nil:
		return second
	case second == nil:
		return first
	}
	for _, s := range slices.Concat(first[:1], second[:1], first) {
		if !slices.Contains(order, s) {
			order = append(order, s)
		}
	}
	return order
}
