package oracle

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"sibyl/internal/agent"
	"sibyl/internal/bt"
	"sibyl/internal/oracle/classify"
	"sibyl/internal/oracle/prompt"
)

// ground is what an answer can stand on: the facts of the one rule of sufficiency.
type ground struct {
	Class   classify.Classification `port:"class"`
	Tools   []agent.ToolFact        `port:"tools"`
	Offered []string                `port:"offered"`
	Ledger  agent.Ledger            `port:"ledger"`
	Past    int                     `port:"past_tokens,optional" doc:"tokens of the session's earlier exchanges"`
	Shifted bool                    `port:"topic_shift"`
}

func sufficient() bt.Leaf {
	return bt.Check("Sufficient", "Is there enough for an answer (FR-018)? A report of a change needs the receipt of one; another answer a place that was read, unless its class needs none or none can be had.",
		func(i ground) (bool, string) {
			missing, why := i.missing()
			return missing == "", why
		})
}

// The things that an answer may want.
const (
	missingSource = "source"
	missingWrite  = "write"
	missingWrites = "writes" // some of them
)

// missing says what an answer still wants to stand on, "" for nothing, and why.
func (g *ground) missing() (what, why string) {
	what, why = g.base()
	if writes := &g.Ledger.Writes; !writes.Whole() && what != missingSource && g.Class.QueryType != prompt.AllTypes {
		return missingWrites, writes.String()
	}
	return what, why
}

// base is missing, the single writes aside.
func (g *ground) base() (what, why string) {
	c := g.Class
	switch {
	case c.QueryType == prompt.AllTypes:
		return "", "only the model decides when it is done"
	case c.QueryType == classify.Action && g.Ledger.Wrote():
		return "", "a change has a receipt"
	case c.QueryType == classify.Action:
		return missingWrite, "nothing was written"
	case !c.NeedsCode && !c.NeedsVault && !c.NeedsWeb:
		return "", "a " + string(c.QueryType) + " question needs no source"
	case len(g.Ledger.Opened) > 0:
		return "", fmt.Sprintf("%d places were read", len(g.Ledger.Opened))
	case g.Past > 0 && !g.Shifted:
		return "", "the conversation builds on earlier answers"
	case len(g.Offered) == 0 && len(g.Ledger.Taken) == 0:
		return "", "no tool can read one"
	}
	return missingSource, "nothing was read yet"
}

// line tells the person what an answer does not stand on.
func (g *ground) line(what string) string {
	switch {
	case what == missingWrites:
		return g.Ledger.Writes.String()
	case what == missingWrite:
		return "Nothing was written."
	case g.Ledger.Calls() > 0:
		return "No source was opened for this answer: it relies on what the model knows."
	}
	return "Nothing was looked up for this answer: it relies on what the model knows."
}

// callable names the offered tools that could give what is missing. A change that may have been made is not asked for again.
func (g *ground) callable(what string) (names []string) {
	_, failed := g.Ledger.Writes.Wanting()
	for _, t := range g.Tools {
		if what == missingWrites && !slices.Contains(failed, t.Name) {
			continue
		}
		if slices.Contains(g.Offered, t.Name) && t.Once == (what != missingSource) && !(t.Once && g.Ledger.Labels.Integrity() == agent.Stranger) {
			names = append(names, t.Name)
		}
	}
	return names
}

func lacks() bt.Leaf {
	type out struct {
		Hint string `port:"hint" doc:"what the model is told"`
	}
	return bt.Func("Lacks", "Says what support an answer still needs, if an offered tool could provide it. FAILURE if nothing is missing, or no tool could.",
		func(i ground, o *out) error {
			what, why := i.missing()
			names := i.callable(what)
			switch {
			case what == "" || len(names) == 0:
				return errors.New(why)
			case what == missingWrites:
				failed, _ := i.Ledger.Writes.Wanting()
				o.Hint = fmt.Sprintf("Not all was written: %s. If it can be done, do it now with %s; else say in your answer what was not written. What is not named here is done, or in doubt: do not repeat it.", failed, strings.Join(names, ", "))
			case what == missingWrite:
				o.Hint = fmt.Sprintf("Nothing was written: no tool has confirmed a change. Make it now with one of %s. If that can't be done, or was not asked for, say so plainly.", strings.Join(names, ", "))
			default:
				o.Hint = fmt.Sprintf("No source was opened for this answer, and the question needs one. Look it up now with %s, and answer from what you read. If that can't be done, say plainly that nothing was looked up.",
					strings.Join(names, ", "))
			}
			return nil
		})
}

func announcesLeaf() bt.Leaf {
	type in struct {
		Report  Report   `port:"report"`
		Offered []string `port:"offered"`
	}
	return bt.Check("Announces", "Does the reply only announce a step that the model could take?", func(i in) (bool, string) {
		is := i.Report.Words.Announces && len(i.Offered) > 0
		return is, map[bool]string{true: "it announces", false: "it does not"}[is]
	})
}

// mostAsked is how long a question to the person is at most, in characters: an answer may end with an offer.
const mostAsked = 400

func asksPerson() bt.Leaf {
	type in struct {
		Reply  agent.Reply `port:"reply"`
		Report Report      `port:"report"`
	}
	return bt.Check("AsksPerson", "Is the reply a question to the user? A long reply counts as an answer that ends with a question.", func(i in) (bool, string) {
		is := i.Reply.Asks && i.Report.Words.Size <= mostAsked && !i.Report.Words.Cites
		return is, map[bool]string{true: "it asks", false: "it does not ask"}[is]
	})
}

func hasAnswer() bt.Leaf {
	type in struct {
		Reports Reports `port:"reports"`
	}
	return bt.Check("HasAnswer", "Is there a text that could be the answer, in this reply or an earlier one?", func(i in) (bool, string) {
		is := i.Reports.Best.Ref != 0
		return is, map[bool]string{true: "there is one", false: "there is none"}[is]
	})
}

func saysNothingNew() bt.Leaf {
	type in struct {
		Reports Reports `port:"reports"`
	}
	return bt.Check("SaysNothingNew", "Does the reply call no tool and only repeat or refer back to earlier replies?", func(i in) (bool, string) {
		return i.Reports.Idle > 0, fmt.Sprintf("%d such replies in a row", i.Reports.Idle)
	})
}

func searchesEmpty() bt.Leaf {
	type in struct {
		Ledger agent.Ledger `port:"ledger"`
	}
	return bt.Check("SearchesEmpty", "Did every search so far find nothing? Failed searches don't count.", func(i in) (bool, string) {
		empty := 0
		for _, t := range i.Ledger.Sources {
			if t.Hits > 0 || t.Opened > 0 {
				return false, fmt.Sprintf("%s gave %d hits, %d read", t.Source, t.Hits, t.Opened)
			}
			empty += t.Empty
		}
		return empty > 0, fmt.Sprintf("%d searches found nothing", empty)
	})
}
