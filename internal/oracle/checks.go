package oracle

import (
	"fmt"

	"sibyl/internal/agent"
	"sibyl/internal/bt"
	"sibyl/internal/oracle/classify"
)

func sufficient() bt.Leaf {
	type in struct {
		Class   classify.Classification `port:"class"`
		Offered []string                `port:"offered"`
		Ledger  agent.Ledger            `port:"ledger"`
	}
	return bt.Check("Sufficient", "Is there context enough for an answer (FR-018)? Yes if the class needs no source, none can be had, or one was read.",
		func(i in) (bool, string) { return sufficientContext(i.Class, i.Offered, &i.Ledger) })
}

func sufficientContext(c classify.Classification, offered []string, l *agent.Ledger) (bool, string) {
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
		Ledger agent.Ledger `port:"ledger"`
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
