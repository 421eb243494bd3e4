package rules

import (
	_ "embed"
	"sync"

	"sibyl/internal/learned"
)

//go:generate go test -count=1 -v -run "TestWeightsAreThoseOfTheLessons|TestHandsAreJudgedByTheOthers" -update

//go:embed worth.weights
var worthFile []byte

// worthModel says what an answer is worth for an aspect of its question: “given”, “vague” or “missing”.
var worthModel = sync.OnceValue(func() *learned.Model { return loaded(worthFile) })

// loaded reads weights that are part of the program, so that they are damaged only if it is.
func loaded(file []byte) *learned.Model {
	m, err := learned.Load(file)
	if err != nil {
		panic(err)
	}
	return m
}

// States of an aspect in an answer, the classes of worthModel.
const (
	isGiven   = "given"
	isVague   = "vague"
	isMissing = "missing"
)

// How probable it must be that an answer leaves an aspect open: less where the rules know words for just that. Precision comes before recall.
const (
	surelyOpen = 0.83
	agreedOpen = 0.65
)

// bar is how probable a gap must be, by what the rules say.
func (v verdict) bar() float64 {
	if v.category == Vagueness {
		return agreedOpen
	}
	return surelyOpen
}

// judge says whether an answer gives what a question asks for by one of its aspects.
func (l *language) judge(q question, aspect string, a answer) verdict {
	if a.notFound {
		return verdict{category: Missing, why: "not found"}
	}
	if len(a.sentences) == 0 {
		return verdict{category: Missing, why: "missing"}
	}
	m := l.worth()
	p := m.Probabilities(l.signsOf(q, aspect, a))
	v := l.ruled(q, spoken(aspect), a)
	switch {
	case 1-p[m.Class(isGiven)] < v.bar():
		return verdict{given: true, at: v.at}
	case p[m.Class(isVague)] < p[m.Class(isMissing)]:
		if v.category != Missing {
			v = verdict{why: "missing"}
		}
		return verdict{category: Missing, why: v.why, words: v.words, at: v.at}
	}
	if v.category == Vagueness {
		return v
	}
	at := l.vaguest(q, aspect, a)
	return verdict{category: Vagueness, why: "vague", words: a.sentences[at].list, at: at}
}

// vaguest is the sentence of an answer that by itself is most probably vague.
func (l *language) vaguest(q question, aspect string, a answer) (at int) {
	m, most := l.worth(), -1.0
	for i, s := range a.sentences {
		if p := m.Probabilities(l.signsOf(q, aspect, answer{text: a.text, sentences: []sentence{s}}))[m.Class(isVague)]; p > most {
			at, most = i, p
		}
	}
	return at
}
