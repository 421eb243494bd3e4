package eval

import (
	"context"
	"slices"

	"sibyl/internal/agent"
	"sibyl/internal/oracle"
	"sibyl/internal/oracle/classify"
	"sibyl/internal/signal"
)

// Asker asks one question, after the earlier ones of its session, and gives the outcome of the last. An error is one of
// the program; a model that fails is an outcome.
type Asker func(ctx context.Context, q OracleQuestion) (oracle.Answer, error)

// OracleScore is how one question was answered. eval/README.md says how each figure is defined.
type OracleScore struct {
	ID            string        `json:"id"`
	Half          Half          `json:"half"`
	Type          classify.Type `json:"type"`
	Got           classify.Type `json:"got"`
	ClassRight    bool          `json:"class_right"`
	StopReason    string        `json:"stop_reason"`
	Failure       string        `json:"failure,omitempty"`
	Turns         int           `json:"turns"`
	Calls         int           `json:"calls"`
	Unnecessary   int           `json:"unnecessary"`
	Tokens        int           `json:"tokens"`
	Signal        signal.Type   `json:"signal,omitempty"` // of the accepted reply
	SignalPresent bool          `json:"signal_present"`   // exactly one, well-formed, in every turn
	SignalFits    bool          `json:"signal_fits"`
	SignalTrue    bool          `json:"signal_true"`
	RepliesFit    int           `json:"replies_fit"` // replies, the last one included, whose one signal fits
	WithinBudget  bool          `json:"within_budget"`

	HasPlaces     bool `json:"has_places"`
	Found         bool `json:"found"` // a labelled place is cited
	Whole         bool `json:"whole"` // all that a whole answer needs are cited
	Cited         int  `json:"cited"`
	CitedLabelled int  `json:"cited_labelled"`

	MustBePartial bool `json:"must_be_partial"`
	Honest        bool `json:"honest"` // it must be partial, and is
}

// ScoreOracle scores the outcome of one question.
func ScoreOracle(q OracleQuestion, a oracle.Answer) OracleScore {
	cited := citations(a)
	s := OracleScore{ID: q.ID, Half: q.Half, Type: q.Type, Got: a.Class.QueryType,
		ClassRight: a.Class.QueryType == q.Type,
		StopReason: a.StopReason, Turns: a.Turns, Calls: len(a.ToolCalls), Tokens: a.Usage.InputTokens +
			a.Usage.OutputTokens,
		WithinBudget: withinBudget(a), HasPlaces: len(q.Places) > 0, Cited: len(cited), MustBePartial: q.MustBePartial}
	if a.Error != nil {
		s.Failure = a.Error.Reason
	}
	s.Unnecessary = s.Calls - necessary(a.ToolCalls)
	s.Found, s.Whole = covered(q.Places, cited)
	for _, c := range cited {
		s.CitedLabelled += one(slices.ContainsFunc(q.Places, c.within))
	}
	s.Honest = q.MustBePartial && a.Partial()
	s.scoreSignal(q, a, len(cited) > 0)
	return s
}

// scoreSignal judges the signal of the accepted reply.
func (s *OracleScore) scoreSignal(q OracleQuestion, a oracle.Answer, cites bool) {
	if a.Signal == nil {
		return
	}
	s.Signal = a.Signal.Type
	s.SignalPresent = len(a.Signals) == a.Turns && len(a.Problems) == 0
	whole := s.Signal == signal.ContextSufficient || s.Signal == signal.DelegationRecommended
	partial := (s.Signal == signal.PartialAnswer || s.Signal == signal.Stuck) && a.Partial()
	wrote := slices.ContainsFunc(a.ToolCalls, func(c agent.ToolUse) bool {
		return slices.Contains(writers(), c.Name) && performed(c)
	})
	var fits, holds bool
	switch {
	case q.MustBePartial:
		fits, holds = partial, partial
	case len(q.Places) > 0:
		fits = whole && cites && len(a.Unsupported) == 0 || partial && !s.Whole
		holds = whole && s.Found || partial && !s.Whole
	case q.Type == classify.Action:
		fits = whole && wrote || partial && !wrote
		holds = fits
	default:
		fits, holds = whole, whole
	}
	s.SignalFits, s.SignalTrue = s.SignalPresent && fits, s.SignalPresent && holds
	if s.SignalPresent {
		s.RepliesFit = stepsThatFit(a)
		if fits {
			s.RepliesFit++
		}
	}
}

// stepsThatFit counts the replies before the last whose signal fits what they do: one that calls tools wants another
// turn or a capability; one that calls none may also be stuck, or leave the rest to others.
func stepsThatFit(a oracle.Answer) (n int) {
	for i, sig := range a.Signals[:len(a.Signals)-1] {
		calls := slices.ContainsFunc(a.ToolCalls, func(c agent.ToolUse) bool { return c.Turn == i+1 })
		switch sig.Type {
		case signal.NeedTurn, signal.NeedCapability:
			n++
		case signal.Stuck, signal.DelegationRecommended:
			if !calls {
				n++
			}
		}
	}
	return n
}

// writers names the tools of the set's surroundings that write.
func writers() []string { return []string{"vault_write", "thread_push"} }

// performed says that a call was carried out, and did not fail.
func performed(c agent.ToolUse) bool { return c.Refused == "" && c.Error == "" }

// withinBudget says that a run came to an end of its own: not by the turn limit, an error or a stop from outside.
func withinBudget(a oracle.Answer) bool {
	switch a.StopReason {
	case oracle.StopBudget, oracle.StopError, oracle.StopCancelled, "":
		return false
	}
	return a.Turns <= a.MaxTurns
}

// necessary counts the calls that the answer rests on. One that repeats an earlier call word for word is not counted.
func necessary(calls []agent.ToolUse) int {
	n := 0
	seen := map[string]bool{}
	for _, c := range calls {
		if key := c.Name + "\x00" + c.Arguments; c.Used && !seen[key] {
			seen[key] = true
			n++
		}
	}
	return n
}

// covered says whether any labelled place is cited, and whether all are that a whole answer needs.
func covered(places []Place, cited []citation) (found, whole bool) {
	anyWanted, anyFound, whole := false, false, len(places) > 0
	for _, p := range places {
		hit := slices.ContainsFunc(cited, func(c citation) bool { return c.within(p) })
		found = found || hit
		switch p.Need {
		case All:
			whole = whole && hit
		case Any:
			anyWanted, anyFound = true, anyFound || hit
		}
	}
	return found, whole && (anyFound || !anyWanted)
}
