package rules

import (
	"bytes"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"sibyl/internal/learned"
)

var update = flag.Bool("update", false, "train and write the weights anew")

// worthOptions are how worth.weights is trained.
func worthOptions() learned.Options {
	return learned.Options{Classes: []string{isGiven, isVague, isMissing}, Size: 16, Rounds: 6, Seen: 3}
}

// worthExamples are those that worth.weights is trained with: the answers of all lessons, of single questions, and of the labelled interviews. The bars
// are how probable a gap must be in each.
func worthExamples(t testing.TB) (all []learned.Example, bars []float64) {
	t.Helper()
	for _, x := range slices.Concat(lessons(t, "training"), answersTo(t, "training/answers"), labelledInterviews(t)) {
		l := languageOf(x.language, "")
		for k, e := range x.all {
			q, a := l.question(e.Question), answer{text: e.Answer, sentences: l.sentences(e.Answer)}
			for _, given := range x.labels[k] {
				if given.state != "ambiguous" && len(a.sentences) > 0 {
					all = append(all, learned.Example{Features: l.signsOf(q, given.aspect, a), Class: given.state, Group: x.hand})
					bars = append(bars, l.ruled(q, spoken(given.aspect), a).bar())
				}
			}
		}
	}
	return all, bars
}

// labelledInterviews are those in testdata, as lessons. Their labels name gaps alone; what else is asked for is given.
func labelledInterviews(t testing.TB) (all []lesson) {
	for _, file := range interviewFiles {
		for _, i := range interviews(t, file) {
			x := lesson{name: i.name, language: i.language, hand: "interviews", all: i.all, labels: make([][]label, len(i.all))}
			for k, e := range i.all {
				q := languageOf(i.language, "").question(e.Question)
				for _, aspect := range q.asked {
					own := label{aspect: aspect, state: isGiven}
					if aspect == What && q.polar {
						own.aspect = whether
					}
					switch {
					case e.NotFound:
						continue // told by its type, not by words
					case slices.Contains(i.gaps, gapLabel(k, Missing, aspect)):
						own.state = isMissing
					case slices.Contains(i.gaps, gapLabel(k, Vagueness, aspect)):
						own.state = isVague
					}
					x.labels[k] = append(x.labels[k], own)
				}
			}
			all = append(all, x)
		}
	}
	return all
}

// TestWeightsAreThoseOfTheLessons trains again. With -update it writes what comes out.
func TestWeightsAreThoseOfTheLessons(t *testing.T) {
	examples, _ := worthExamples(t)
	trainedAgain(t, "worth.weights", worthFile, examples, worthOptions())
}

func trainedAgain(t *testing.T, name string, kept []byte, examples []learned.Example, options learned.Options) {
	t.Helper()
	m, err := learned.Train(examples, options)
	switch {
	case err != nil:
		t.Fatal(err)
	case *update:
		if err := os.WriteFile(name, m.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	case !bytes.Equal(m.Bytes(), kept):
		t.Errorf("the lessons, or what is seen in them, give other weights than %s: go generate ./internal/inquiry/rules", name)
	}
}

// TestHandsAreJudgedByTheOthers holds the honest figure: each hand's answers by a model of all others. It takes a minute, so it is made with -update alone.
func TestHandsAreJudgedByTheOthers(t *testing.T) {
	if !*update {
		t.Skip("-update makes the figures of the folds")
	}
	examples, bars := worthExamples(t)
	p, err := learned.HeldOut(examples, worthOptions())
	if err != nil {
		t.Fatal(err)
	}
	found, right, gaps := 0, 0, 0
	for i, e := range examples {
		if !strings.Contains(e.Group, "-") {
			continue
		}
		open := 1-p[i][0] >= bars[i]
		found += one(open)
		gaps += one(e.Class != isGiven)
		right += one(open && e.Class != isGiven)
	}
	t.Logf("of the answers that are said to leave something open, %d of %d do; of those that do, %d of %d are found", right, found, right, gaps)
	if float64(right) < 0.85*float64(found) || found == 0 {
		t.Errorf("%d of %d: the bars are too low", right, found)
	}
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}
