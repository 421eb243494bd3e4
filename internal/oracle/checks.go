package oracle

import (
	"fmt"
	"strings"

	"sibyl/internal/bt"
	"sibyl/internal/oracle/classify"
)

func signalIs() bt.Leaf {
	type in struct {
		Reply Reply  `port:"reply"`
		Type  string `port:"type" doc:"need_turn, context_sufficient, stuck, need_capability, partial_answer or delegation_recommended"`
	}
	return bt.Check("SignalIs", "Is the reply's signal of this type?", func(i in) (bool, string) {
		if i.Reply.Signal == nil {
			return false, "no signal"
		}
		if is := string(i.Reply.Signal.Type); is != i.Type {
			return false, is + ", not " + i.Type
		}
		return true, i.Type
	})
}

func hasText() bt.Leaf {
	type in struct {
		Reply Reply `port:"reply"`
	}
	return bt.Check("HasText", "Does the reply say anything beside its signal?", func(i in) (bool, string) {
		return i.Reply.HasText, map[bool]string{true: "it has text", false: "it has no text"}[i.Reply.HasText]
	})
}

func hasToolCalls() bt.Leaf {
	type in struct {
		Reply Reply `port:"reply"`
	}
	return bt.Check("HasToolCalls", "Does the reply ask for tools?", func(i in) (bool, string) {
		if len(i.Reply.Calls) == 0 {
			return false, "no calls"
		}
		var names []string
		for _, c := range i.Reply.Calls {
			names = append(names, c.Name)
		}
		return true, strings.Join(names, ", ")
	})
}

func sufficient() bt.Leaf {
	type in struct {
		Class   classify.Classification `port:"class"`
		Offered []string                `port:"offered"`
		Ledger  Ledger                  `port:"ledger"`
	}
	return bt.Check("Sufficient", "Is there context enough for an answer (FR-018)? Yes if the class needs no source, none can be had, or one was read.",
		func(i in) (bool, string) { return sufficientContext(i.Class, i.Offered, &i.Ledger) })
}

func sufficientContext(c classify.Classification, offered []string, l *Ledger) (bool, string) {
	switch {
	case !c.NeedsCode && !c.NeedsVault && !c.NeedsWeb:
		return true, "a " + string(c.QueryType) + " question needs no source"
	case len(l.Opened) > 0:
		return true, fmt.Sprintf("%d places were read", len(l.Opened))
	case len(offered) == 0 && len(l.Taken) == 0:
		return true, "no tool is there that could read one"
	}
	return false, "nothing was read yet"
}

func searchesEmpty() bt.Leaf {
	type in struct {
		Ledger Ledger `port:"ledger"`
	}
	return bt.Check("SearchesEmpty", "Did every search so far find nothing? One that failed is no such search.", func(i in) (bool, string) {
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
