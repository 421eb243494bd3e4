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

// surely is how probable it must be that an answer leaves an aspect open, less where it is not clear in which way. Precision comes before recall.
const surely = 0.61

// sureOf says how sure it is that an aspect is open, and in the way that is more probable.
func sureOf(open, missing float64) float64 { return open * (1 + max(missing, 1-missing)) / 2 }

// worthOf says how probable it is that an answer leaves an aspect open, and how probable that it is missing then.
func (l *language) worthOf(q question, aspect string, a answer) (open, missing float64) {
	p := l.worth().Probabilities(l.signsOf(q, aspect, a))
	return 1 - p[0], p[2] / max(1e-9, p[1]+p[2])
}

// judge says whether an answer gives what a question asks for by one of its aspects.
func (l *language) judge(q question, aspect string, a answer) verdict {
	if a.notFound {
		return verdict{category: Missing, why: "not found"}
	}
	if len(a.sentences) == 0 {
		return verdict{category: Missing, why: "missing"}
	}
	v := l.ruled(q, spoken(aspect), a)
	open, missing := l.worthOf(q, aspect, a)
	switch {
	case sureOf(open, missing) < surely:
		return verdict{given: true, at: v.at}
	case missing > 0.5:
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

// filled says whether an answer tells an aspect so that it need not be asked for again: neither the lessons nor the rules see a gap.
func (l *language) filled(q question, aspect string, a answer) verdict {
	if v := l.judge(q, aspect, a); v.category != "" {
		return v
	}
	return l.ruled(q, spoken(aspect), a)
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
