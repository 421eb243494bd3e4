package rules

import (
	"fmt"
	"slices"
	"strings"

	"sibyl/internal/learned"
)

// Case is an interview that grows: what Analyse gives, without reading what was read before. It must not be used by two goroutines at once.
type Case struct {
	l          *language
	claim      claim
	exchanges  []exchange
	open       []*openGap
	closed     []string
	suspicions []*suspicion
	doubts     []*suspicion // that are no gaps: so little speaks for them
	settled    []Clash
	noted      []pair // every clash that was ever suspected
	aspects    map[string]state
	frequency  map[string]int        // of stems, by exchanges
	said       map[string]int        // sentences, and the exchange that said each first
	earlier    map[string][]*mention // by kind
	scratch    []float64             // of evidence
	standard   []learned.Feature
	finished   bool // nobody can be asked any more
	work       int  // tokens read and statements compared
}

// exchange is one that was read.
type exchange struct {
	question question
	answer   answer
	facts    facts
}

// answer is one that was read.
type answer struct {
	text      string
	notFound  bool
	around    string
	sentences []sentence
}

// openGap is a gap that is open, with the question that opened it.
type openGap struct {
	Gap
	question question
	about    []int
	words    [2]string // of a clash
	said     [2]string // the sentences of a clash; the first alone of any other gap
	tries    int       // how often it has been asked about
}

// state is what is known about an aspect of the hypothesis.
type state int

const (
	untouched state = iota
	asked           // and not told
	unknown         // asked, and the witness said as a fact that it holds nothing about it
	vague
	told
)

// New begins a case. Language is "en" or "de"; anything else is found out from the hypothesis.
func New(hypothesis, language string) *Case {
	l := languageOf(language, hypothesis)
	return &Case{l: l, claim: l.claim(hypothesis), aspects: map[string]state{}, frequency: map[string]int{}, said: map[string]int{}, earlier: map[string][]*mention{}}
}

// Add takes in a further exchange.
func (c *Case) Add(e Exchange) {
	k := len(c.exchanges)
	x := c.read(e)
	for _, s := range x.answer.sentences {
		c.work += len(s.list)
	}
	c.exchanges = append(c.exchanges, x)
	inquired := c.settle(x, k)
	c.fill(x, inquired)
	c.look(x, k, inquired)
	c.touch(x)
	c.compare(x, k, inquired)
}

func (c *Case) read(e Exchange) exchange {
	x := exchange{question: c.l.question(e.Question), answer: answer{text: e.Answer, notFound: e.NotFound, around: e.Around}}
	x.answer.sentences = c.l.sentences(e.Answer)
	switch at := slices.IndexFunc(c.open, func(g *openGap) bool { return c.asksAbout(g, x.question) }); {
	case at >= 0:
		x.question.own = c.open[at].question.own // it asks once more what was asked
	case strings.Contains(oneLine(e.Question), c.claim.told):
		x.question.own = nil // it asks about the hypothesis as a whole
	}
	x.facts = c.factsOf(&x)
	return x
}

// close takes a gap off the ledger.
func (c *Case) close(g *openGap) {
	c.open = slices.DeleteFunc(c.open, func(o *openGap) bool { return o == g })
	c.closed = append(c.closed, g.ID)
}

// note opens a gap.
func (c *Case) note(g openGap) *openGap {
	id := fmt.Sprintf("%d.%s.%s", g.Pair+1, g.Category, g.Aspect)
	if g.Aspect == "" {
		id = fmt.Sprintf("%d.%s", g.Pair+1, g.Category)
	}
	g.ID = id
	taken := func(o *openGap) bool { return o.ID == g.ID }
	for n := 2; slices.ContainsFunc(c.open, taken) || slices.Contains(c.closed, g.ID); n++ {
		g.ID = fmt.Sprintf("%s.%d", id, n)
	}
	c.open = append(c.open, &g)
	return &g
}

// Analysis gives what is known.
func (c *Case) Analysis() Analysis {
	a := Analysis{Closed: slices.Clone(c.closed), Contradictions: slices.Clone(c.settled)}
	for _, g := range c.open {
		a.Gaps = append(a.Gaps, g.Gap)
	}
	for _, s := range c.suspicions {
		a.Suspicions = append(a.Suspicions, s.Clash)
	}
	for _, aspect := range c.needed() {
		if c.aspects[aspect] == untouched {
			a.Untouched = append(a.Untouched, c.untouched(aspect))
		}
	}
	a.Completeness = c.completeness()
	a.Satisfied = a.Completeness >= enough && !c.followsUp()
	return a
}

// enough is the completeness from which on nothing more need be asked.
const enough = 80

// needed are the aspects of the hypothesis, those first that it asks for. Of an interview that is over, what its kind of claim needs counts only where somebody asked for it or told it,
// unless it never speaks of the matter.
func (c *Case) needed() []string {
	return slices.DeleteFunc(slices.Concat(c.claim.wanted, c.claim.implied), func(aspect string) bool {
		return c.finished && c.aspects[aspect] == untouched && !slices.Contains(c.claim.wanted, aspect) && c.speaksOfIt()
	})
}

// speaksOfIt says whether an exchange has a word of the hypothesis.
func (c *Case) speaksOfIt() bool {
	return len(c.claim.stems) == 0 || slices.ContainsFunc(c.exchanges, func(x exchange) bool {
		return covered(c.claim.stems, x.question.stems) > 0 || slices.ContainsFunc(x.answer.sentences, func(s sentence) bool { return covered(c.claim.stems, s.stems) > 0 })
	})
}

func (c *Case) untouched(aspect string) Gap {
	severity := Low
	if slices.Contains(c.claim.wanted, aspect) {
		severity = Medium
	}
	return Gap{ID: "0." + Missing + "." + aspect, Category: Missing, Severity: severity, Aspect: aspect, Pair: max(0, len(c.exchanges)-1), Words: c.claim.told,
		Description: fmt.Sprintf(c.l.say["gap untouched"], c.l.say["wanted "+aspect], c.claim.told)}
}

// completeness is the share of the aspects that are told, less what the open gaps cost.
func (c *Case) completeness() int {
	if len(c.exchanges) == 0 {
		return 0
	}
	sum, all := 0.0, 0.0
	for _, aspect := range c.needed() {
		weight, inVain, nowhere := 1.0, 0.55, 0.8 // what the kind of claim needs may be known to nobody
		if slices.Contains(c.claim.wanted, aspect) {
			weight, inVain, nowhere = 2, 0.2, 0.2
		}
		all += weight
		switch c.aspects[aspect] {
		case told:
			sum += weight
		case vague:
			sum += weight * 0.7
		case asked:
			sum += weight * inVain
		case unknown:
			sum += weight * nowhere
		}
	}
	score := 100.0
	if all > 0 {
		score = 100 * sum / all
	}
	for _, g := range c.open {
		score -= map[string]float64{Low: 2, Medium: 5, High: 20}[g.Severity]
	}
	return max(0, int(score+0.5))
}

// mostTries is how often a gap is asked about.
const mostTries = 2

// followsUp says whether something is left that should be asked: a gap that is more than low, or an aspect of the hypothesis.
func (c *Case) followsUp() bool {
	if len(c.exchanges) == 0 {
		return true
	}
	for _, g := range c.open {
		if g.Severity == High || g.Severity == Medium && g.tries < mostTries {
			return true
		}
	}
	for _, aspect := range c.needed() {
		s := c.aspects[aspect]
		if s == untouched || (s == asked || s == unknown) && slices.Contains(c.claim.wanted, aspect) {
			return true
		}
	}
	return len(c.suspicions) > 0 || len(c.probes()) > 0 || len(c.doubted()) > 0
}

// touch notes which aspects of the hypothesis an exchange told, and which it asked for in vain.
func (c *Case) touch(x exchange) {
	for _, aspect := range c.needed() {
		if c.aspects[aspect] == told {
			continue
		}
		own := x.question.asks(aspect) && c.concerns(x.question)
		switch {
		case own:
			verdict := c.l.filled(x.question, x.question.kindOf(aspect), x.answer)
			switch {
			case verdict.given && verdict.category == "":
				c.aspects[aspect] = told
			case verdict.given || verdict.category == Vagueness:
				c.aspects[aspect] = vague
			case x.answer.notFound:
				c.aspects[aspect] = max(c.aspects[aspect], unknown)
			default:
				c.aspects[aspect] = max(c.aspects[aspect], asked)
			}
		case c.tells(x, aspect):
			c.aspects[aspect] = told
		}
	}
}

// concerns says whether a question is about the hypothesis.
func (c *Case) concerns(q question) bool {
	return len(c.claim.stems) == 0 || len(q.stems) == 0 || shared(q.stems, c.claim.stems) > 0
}

// tells says whether an answer tells an aspect of the hypothesis unasked.
func (c *Case) tells(x exchange, aspect string) bool {
	if x.answer.notFound {
		return false
	}
	for _, s := range x.answer.sentences {
		if !s.asserts() || s.hedged {
			continue
		}
		n := shared(s.stems, c.claim.stems)
		about := n >= 2 || n >= 1 && (len(c.claim.stems) <= 2 || shared(x.question.stems, c.claim.stems) >= 2)
		if about && c.l.plainly(s, aspect) {
			return true
		}
	}
	return false
}
