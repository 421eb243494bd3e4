package oracle

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"sibyl/internal/agent"
	"sibyl/internal/bt"
	"sibyl/internal/model"
	"sibyl/internal/oracle/classify"
	"sibyl/internal/tool"
)

// LookUp is how the tree looks something up: which places of a question are opened.
type LookUp struct {
	Open   bool `json:"open,omitempty"` // those that were found; otherwise it searches
	Places int  `json:"places"`
	Lines  int  `json:"lines"`            // of each
	Tokens int  `json:"tokens,omitempty"` // of all of them, by estimate; 0: as many as there are
}

// lookUp proposes calls that the tree itself makes, as the run without a model does.
func lookUp() bt.Leaf {
	type in struct {
		Class      classify.Classification `port:"class"`
		Tools      []agent.ToolFact        `port:"tools"`
		Offered    []string                `port:"offered" doc:"names of the tools offered: those of them that only read are called"`
		TopicShift bool                    `port:"topic_shift"`
		Ledger     agent.Ledger            `port:"ledger,optional"`
		Reports    Reports                 `port:"reports,optional"`
		Transcript []agent.Entry           `port:"transcript,optional"`
		Open       bool                    `port:"open,optional" doc:"the best places that were found, instead of searching for them"`
		Places     int                     `port:"places" default:"5" doc:"opened at most"`
		Lines      int                     `port:"lines" default:"30" doc:"of a place at most"`
		Tokens     int                     `port:"tokens" default:"0" doc:"of all places at most, by estimate: fewer lines of each are shown; 0: as many as there are"`
	}
	type out struct {
		Looked     agent.Reply   `port:"looked" doc:"the calls, for RunTools"`
		Offered    []string      `port:"reading" doc:"names of the tools that it may call"`
		Ledger     agent.Ledger  `port:"ledger"`
		Reports    Reports       `port:"reports"`
		Transcript []agent.Entry `port:"transcript"`
	}
	plan := func(i in) ([]bt.Request, error) {
		switch {
		case !i.Open && i.Reports.LookedUp:
			return nil, fmt.Errorf("it was looked up before")
		case !searchesAny(readingTools(i.Tools, i.Offered)):
			return nil, fmt.Errorf("no tool that searches is offered")
		}
		situation := situationOf(i.Class, i.TopicShift)
		situation.LookUp, situation.General = &LookUp{i.Open, i.Places, i.Lines, i.Tokens}, ownPart(i.Class) < likelyHere
		p := agent.TurnPayload{Offered: namesOf(readingTools(i.Tools, i.Offered)), Labels: i.Ledger.Labels,
			Situation: situation.encode()}
		p.SetTranscript(i.Transcript)
		label := "what to search"
		if i.Open {
			label = "what to open"
		}
		return []bt.Request{{Kind: agent.EffectLookUp, Label: label, Payload: p}}, nil
	}
	collect := func(i in, done []bt.Completion, o *out) (err error) {
		o.Looked, err = agent.ReadLookUp[Heard](done[0], i.Tools, &o.Ledger, &o.Transcript)
		if err == nil && i.Open && len(o.Looked.Calls) == 0 {
			err = fmt.Errorf("there is nothing to open")
		}
		o.Offered = namesOf(readingTools(i.Tools, i.Offered))
		o.Reports = i.Reports.clone()
		o.Reports.LookedUp, o.Reports.AskedFor = true, true // it is handed what it would be told to look up
		return err
	}
	return bt.Task("LookUp",
		"Looks up what a question needs, in the place of the model: it searches with the words of the question, or opens "+
			"the best places that were found. FAILURE if there is nothing to open.", plan, collect)
}

// whereToLook chooses the tools with which is looked up for a model that can't call them: nobody else looks, so all of
// the person's sources are searched, whatever the class.
func whereToLook() bt.Leaf {
	type in struct {
		Class   classify.Classification `port:"class"`
		Tools   []agent.ToolFact        `port:"tools"`
		Offered []string                `port:"offered" doc:"names of the tools offered"`
		Talk    float64                 `port:"talk" default:"0.6" between:"0 1" doc:"from this probability on, small talk is clear"`
	}
	type out struct {
		Looking []string `port:"looking" doc:"names of the tools that may be called"`
	}
	return bt.Func("WhereToLook",
		"Names the tools to look something up with. FAILURE for small talk, which needs nothing.",
		func(i in, o *out) error {
			if isSmallTalk(i.Class, i.Talk) {
				return fmt.Errorf("small talk needs nothing")
			}
			for _, s := range sourceOrder(i.Class) {
				for _, name := range toolsOf(i.Tools, s, false) {
					if s != tool.Web || slices.Contains(i.Offered, name) {
						o.Looking = append(o.Looking, name)
					}
				}
			}
			return nil
		})
}

// readingTools are the tools that only read of the sources that are offered. One that was taken away from the model, as
// it called it in vain, is among them.
func readingTools(tools []agent.ToolFact, offered []string) []agent.ToolFact {
	return slices.DeleteFunc(slices.Clone(tools), func(t agent.ToolFact) bool {
		return t.Once || !slices.ContainsFunc(tools, func(of agent.ToolFact) bool {
			return of.Source == t.Source && slices.Contains(offered, of.Name)
		})
	})
}

func namesOf(tools []agent.ToolFact) []string {
	names := make([]string, len(tools))
	for i, t := range tools {
		names[i] = t.Name
	}
	return names
}

func searchesAny(tools []agent.ToolFact) bool {
	return slices.ContainsFunc(tools, func(t agent.ToolFact) bool { return t.Search })
}

const (
	firstHit  = 2.0 // what being the first of a search says for a place; the second has half of it, and so on
	handyRows = 12  // of a place, in which the words are counted for a model that is told of no tools
)

// withMostWords are the passages with at least half as much of the question as the best one has in its best rows, that
// one first. What a search found first may stand for a file that is asked for by other words, as go.mod for a version.
// With most, they have at least half of the words and two, and no number is one of them: it stands anywhere.
func (o offline) withMostWords(places []passage, rows int, most bool) []passage {
	if most {
		o.terms = slices.DeleteFunc(slices.Clone(o.terms), func(t string) bool {
			return !strings.ContainsFunc(t, unicode.IsLetter)
		})
	}
	type scored struct {
		passage
		points float64
		words  int
	}
	all, sought := make([]scored, len(places)), o.sought()
	for i, p := range places {
		all[i] = scored{passage: p}
		best := p.excerpt(rows, sought)
		has := sought.join(sought.inLines(append(slices.Clip(best.lines), p.path, p.hit.Title, p.hit.Symbol))...)
		all[i].points, all[i].words = sought.worth(has), has.count()
		if p.hit.rank > 0 && !most {
			all[i].points += firstHit / float64(p.hit.rank)
		}
	}
	slices.SortStableFunc(all, func(a, b scored) int { return cmp.Compare(b.points, a.points) })
	places = nil
	for _, p := range all {
		if p.points*2 >= all[0].points && p.points > 0 && (!most || p.words >= max((len(o.terms)+1)/2, 2)) {
			places = append(places, p.passage)
		}
	}
	return places
}

// A place is cut to so few lines before a later one is left out, and the best ones, so many, even shorter.
const (
	shortLines = 12
	leastLines = 6
	bestPlaces = 4
)

// shownPlaces are the best lines of places with their citations, within a number of tokens unless that is 0.
func (o offline) shownPlaces(places []passage, lines, tokens int) (all []string) {
	for {
		used := 0
		all = nil
		for _, p := range places {
			best := p.excerpt(lines, o.sought())
			all = append(all, "`"+best.cite()+"`:\n\n"+best.fenced())
			used += agent.Tokens(all[len(all)-1])
		}
		switch {
		case tokens == 0 || used <= tokens || len(places) <= 1 && lines <= leastLines:
			return all
		case lines > shortLines, lines > leastLines && len(places) <= bestPlaces:
			lines = max(leastLines, lines*3/4)
		default:
			places = places[:len(places)-1]
		}
	}
}

// proposeLookUp are the calls of a look-up.
func proposeLookUp(req model.Request) ([]model.ToolCall, error) {
	sit, err := offlineSituation(req)
	if err != nil || sit.LookUp == nil {
		return nil, err
	}
	o := newOffline(sit)
	switch {
	case !o.sit.LookUp.Open:
		return o.searchCalls(), nil
	case len(o.openedPassages()) > 0: // the file that the question names
		return nil, nil
	}
	return o.openCalls(o.rankedHits(), o.sit.LookUp.Places, o.sit.LookUp.Lines), nil
}
