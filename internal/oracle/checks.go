package oracle

import (
	"fmt"
	"slices"
	"strings"

	"sibyl/internal/agent"
	"sibyl/internal/bt"
	"sibyl/internal/oracle/classify"
	"sibyl/internal/oracle/prompt"
	"sibyl/internal/signal"
)

// ground has the facts that decide whether an answer is sufficient.
type ground struct {
	Class   classify.Classification `port:"class"`
	Tools   []agent.ToolFact        `port:"tools"`
	Offered []string                `port:"offered"`
	Ledger  agent.Ledger            `port:"ledger"`
	Past    int                     `port:"past_tokens,optional" doc:"tokens of the session's earlier exchanges"`
	Shifted bool                    `port:"topic_shift"`
}

// What an answer may lack.
const (
	missingSource = "source"
	missingWrite  = "write"
	missingWrites = "writes" // some of them
)

// missing says what an answer lacks, "" for nothing, and why.
func (g *ground) missing() (what string, why bt.Why) {
	what, why = g.missingBasis()
	if writes := &g.Ledger.Writes; !writes.AllDone() && what != missingSource && g.Class.QueryType != prompt.AllTypes {
		return missingWrites, writes.Why()
	}
	return what, why
}

func (g *ground) missingBasis() (what string, why bt.Why) {
	c := g.Class
	switch {
	case c.QueryType == prompt.AllTypes:
		return "", modelDecides.With()
	case c.QueryType == classify.Action && g.Ledger.HasWritten():
		return "", hasReceipt.With()
	case c.QueryType == classify.Action:
		return missingWrite, noneWritten.With()
	case !c.NeedsCode && !c.NeedsVault && !c.NeedsWeb:
		return "", needsNone.With(string(c.QueryType))
	case len(g.Ledger.Opened) > 0:
		return "", placesRead.With(len(g.Ledger.Opened))
	case g.Past > 0 && !g.Shifted:
		return "", buildsOn.With()
	case len(g.Offered) == 0 && len(g.Ledger.Taken) == 0:
		return "", noTool.With()
	}
	return missingSource, noneReadYet.With()
}

func (g *ground) warningFor(what string) bt.Why {
	switch {
	case what == missingWrites:
		return g.Ledger.Writes.Why()
	case what == missingWrite:
		return nothingWritten.With()
	case g.Ledger.Calls() > 0:
		return nothingOpened.With()
	}
	return nothingLookedUp.With()
}

// toolsFor names the offered tools that could provide what is missing, except for changes that may have been made.
func (g *ground) toolsFor(what string) (names []string) {
	_, failed := g.Ledger.Writes.Failures()
	for _, t := range g.Tools {
		if what == missingWrites && !slices.Contains(failed, t.Name) {
			continue
		}
		if slices.Contains(g.Offered, t.Name) && t.Once == (what != missingSource) &&
			!(t.Once && g.Ledger.Labels.Integrity() == agent.Stranger) {
			names = append(names, t.Name)
		}
	}
	return names
}

// hintFor tells the model what is missing; it is empty if no offered tool could provide that.
func (g *ground) hintFor(what string) string {
	names := strings.Join(g.toolsFor(what), ", ")
	switch {
	case what == "" || names == "":
		return ""
	case what == missingWrites:
		failed, _ := g.Ledger.Writes.Failures()
		return fmt.Sprintf("Not all was written: %s. If it can be done, do it now with %s; else say in your answer "+
			"what was not written. What is not named here is done, or in doubt: do not repeat it.", failed, names)
	case what == missingWrite:
		return fmt.Sprintf("Nothing was written: no tool has confirmed a change. Make it now with one of %s. If that "+
			"can't be done, or was not asked for, say so plainly.", names)
	}
	return fmt.Sprintf("No source was opened for this answer, and the question needs one. Look it up now with %s, "+
		"and answer from what you read. If that can't be done, say plainly that nothing was looked up.", names)
}

// maxAskLength is how many characters a question to the person can have. A longer reply is an answer with an offer.
const maxAskLength = 400

// stopReason is the reason to stop that the signal gives; empty if it gives none.
func (r *Report) stopReason() string {
	if r.Signal == nil {
		return ""
	}
	return map[signal.Type]string{signal.ContextSufficient: StopSatisfied, signal.DelegationRecommended: StopSatisfied,
		signal.PartialAnswer: StopPartial}[r.Signal.Type]
}

// foundNothing says whether every search so far found nothing. Failed searches don't count.
func foundNothing(l *agent.Ledger) bool {
	return slices.ContainsFunc(l.Sources, func(t agent.SourceCalls) bool { return t.Empty > 0 }) &&
		!slices.ContainsFunc(l.Sources, func(t agent.SourceCalls) bool { return t.Hits > 0 || t.Opened > 0 })
}
