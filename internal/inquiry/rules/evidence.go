package rules

import (
	"math"
	"slices"
)

// facts are what is looked up of an exchange again and again.
type facts struct {
	quantities []quantity // of the answer
	times      []moment   // of the answer
	asked      []moment   // of the question
	names      []string   // of both
	sign       float64    // the answer says yes (1) or no (-1)
	retracts   bool
}

func (c *Case) factsOf(x *exchange) facts {
	f := facts{asked: c.l.moments(x.question.list), names: x.question.names, sign: c.sign(x), retracts: c.l.retracts(x.answer)}
	for _, s := range x.answer.sentences {
		f.quantities = append(f.quantities, c.l.quantities(s.list)...)
		f.times = append(f.times, c.l.moments(s.list)...)
		f.names = union(f.names, s.names)
	}
	return f
}

// sign says whether an answer as a whole says yes (1) or no (-1).
func (c *Case) sign(x *exchange) float64 {
	if len(x.answer.sentences) == 0 {
		return 0
	}
	s := &x.answer.sentences[0]
	yes, no := c.l.yesOrNo(s)
	switch {
	case yes > no:
		return 1
	case no > 0, c.l.classes["nobody"].at(s.list, 0) > 0, len(s.clauses) > 0 && c.l.negations(s.clauses[0])%2 == 1:
		return -1
	}
	return 0
}

// features are what a mention shows by itself.
type features struct {
	own    []float64
	names  []string // of its clause
	topic  []string // stems of what it is about: its clause, and its question if it answers that
	beside []string // stems that stand next to it
	times  []moment // of its sentence
	things []string // of its sentence, that a letter or number tells apart
	direct bool     // it is what its question asks for

	wide      []string // stems of its sentence and question
	fresh     []string // of the topic, without those of the hypothesis
	wideNames []string // of its sentence and question
	wideTimes []moment
	marks     []mark // of its clause
	wideMarks []mark // and of its question
	classes   [len(contrastClasses)][2][]string
}

// contrastClasses are classes of words of which two that differ can tell of different things, or of a clash.
var contrastClasses = [...]string{"colour", "stuff", "direction", "weather"}

// besideWords is how many words on either side stand next to a mention.
const besideWords = 4

func (c *Case) featuresOf(m *mention) features {
	f := features{names: c.l.names(m.clause), topic: m.stems, beside: c.beside(m), times: c.l.moments(m.s.list), direct: c.direct(m), things: c.l.identifiers(m.s.list)}
	if f.direct {
		f.topic = union(f.topic, m.x.question.own)
	}
	f.wide, f.fresh, f.wideNames = union(m.s.stems, m.x.question.own), without(f.topic, c.claim.stems), union(m.s.names, m.x.question.names)
	f.wideTimes, f.marks = slices.Concat(f.times, m.x.facts.asked), c.l.told(m.clause)
	f.wideMarks = union(f.marks, m.x.question.marks)
	for i, class := range contrastClasses {
		f.classes[i] = [2][]string{c.wordsOf(class, m.clause), c.wordsOf(class, m.s.list)}
	}
	add := func(v ...float64) { f.own = append(f.own, v...) }
	add(float64(covered(m.stems, c.claim.stems)), float64(covered(m.x.question.own, c.claim.stems)), float64(len(m.stems)), float64(len(m.clause)))
	add(float64(m.at), float64(m.part), truth(f.direct), truth(m.kind != Negation && m.x.question.asks(aspectOf(m.kind))), truth(m.x.question.polar))
	add(float64(m.polar), truth(m.negative), m.x.facts.sign, truth(m.x.facts.retracts), truth(c.l.startsWithPronoun(m.clause)))
	add(truth(m.part > 0 && c.l.classes["clause"].at(m.clause, 0) > 0))
	for _, aspect := range aspects {
		add(truth(m.x.question.asks(aspect)))
	}
	add(truth(len(f.names) > 0), truth(len(c.l.names(m.clause[:min(3, len(m.clause))])) > 0), truth(c.l.has("role", m.clause) || c.l.has("he", m.clause) || c.l.has("she", m.clause)))
	for _, class := range []string{"only", "extreme", "earlier said", "concession", "other time", "claimed", "ought", "portion", "besides", "presence", "hedge", "also",
		"negation", "nobody", "unreal", "first person", "perfect"} {
		add(truth(c.l.has(class, m.clause)))
	}
	for _, class := range []string{"claimed", "ought", "other time", "portion", "earlier said", "only", "was"} {
		add(truth(c.l.has(class, m.s.list)), truth(c.l.has(class, m.x.question.list)))
	}
	switch m.kind {
	case Number:
		add(c.ofNumber(m)...)
	case Date:
		role, _ := c.l.dateRole(m.s.list, m.moment.from)
		add(float64(m.moment.kind()), truth(role != ""), truth(c.l.has("once", m.clause) || m.x.question.once), float64(len(m.x.facts.times)), truth(c.l.has("paper", m.s.list) || c.l.has("documents", m.s.list)))
	case Name:
		add(truth(c.l.has("sole role", m.s.list) || c.l.has("sole role", m.x.question.list)), truth(c.l.has("by", m.clause)), float64(len(m.s.names)),
			truth(m.words[0].from == m.clause[0].from), truth(meeting([]string{m.name}, c.claim.names) > 0))
	}
	return f
}

// ofNumber tells how a number stands in its sentence.
func (c *Case) ofNumber(m *mention) []float64 {
	q := m.quantity
	before, second, after := at(m.s.list, q.from-1).norm, at(m.s.list, q.from-2).norm, at(m.s.list, q.to).norm
	size := 0.0
	for v := math.Abs(q.low); v >= 1 && size < 12; v /= 10 {
		size++
	}
	return []float64{truth(q.unit != ""), truth(len(q.unit) > 5), truth(q.unit == "time"), truth(len(q.counts) == 0 && q.unit == ""), size, float64(q.digits),
		truth(q.about), truth(q.open()), truth(q.low != q.high), truth(q.negated), float64(len(m.x.facts.quantities)),
		truth(c.l.is("definite", before) || c.l.is("definite", second)), truth(c.l.is("whole", before) || c.l.is("whole", second)),
		truth(c.l.is("bit", before) || c.l.is("bit", second) || c.l.is("bit", after)), truth(q.from == 0), truth(c.l.has("part", m.s.list)), truth(len(c.l.identifiers(m.s.list)) > 0)}
}

// direct says whether a mention is what its question asks for.
func (c *Case) direct(m *mention) bool {
	if m.kind == Negation {
		return m.polar != 0 || m.at == 0 && m.part == 0
	}
	return m.at == 0 && m.x.question.asks(aspectOf(m.kind))
}

// beside gives the stems that stand next to a mention.
func (c *Case) beside(m *mention) []string {
	if m.kind == Negation {
		return m.stems
	}
	from := slices.IndexFunc(m.s.list, func(t token) bool { return t.from >= m.words[0].from })
	to := from + len(m.words)
	return c.l.content(m.s.list[max(0, from-besideWords):min(len(m.s.list), to+besideWords)])
}

func truth(v bool) float64 {
	if v {
		return 1
	}
	return 0
}
