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
	return learned.Options{Classes: []string{isGiven, isVague, isMissing}, Rounds: 6, Rate: 0.05, Seen: 3}
}

// weightOf says how much the lessons of a hand count, 1 if absent: most of the single answers leave something open, as few do in an interview.
var weightOf = map[string]float64{"answers": 0.4}

// worthExamples are those that the weights are trained with: the answers of all lessons, of single questions, and of the labelled interviews.
func worthExamples(t testing.TB) (all []learned.Example) {
	t.Helper()
	for _, x := range slices.Concat(lessons(t, "training"), answersTo(t, "training/answers"), labelledInterviews(t)) {
		l := languageOf(x.language, "")
		for k, e := range x.all {
			q, a := l.question(e.Question), answer{text: e.Answer, sentences: l.sentences(e.Answer)}
			for _, given := range x.labels[k] {
				if given.state != "ambiguous" && len(a.sentences) > 0 {
					all = append(all, learned.Example{Features: l.signsOf(q, given.aspect, a), Class: given.state, Group: x.hand, Weight: weightOf[x.hand]})
				}
			}
		}
	}
	return all
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
	trainedAgain(t, "worth.weights", worthFile, worthExamples(t), worthOptions())
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

// hands wrote the labelled interviews.
var hands = []string{"de-a", "de-b", "de-c", "de-d", "de-e", "de-f", "en-a", "en-b", "en-c", "en-d", "en-e", "en-f"}

// TestHandsAreJudgedByTheOthers holds the honest figure: the gaps of each hand's interviews by a model of all others. It takes a minute, so it is made with -update
// alone.
func TestHandsAreJudgedByTheOthers(t *testing.T) {
	if !*update {
		t.Skip("-update makes the figures of the folds")
	}
	examples, all := worthExamples(t), lessons(t, "training")
	told, there := map[string]*score{Missing: {}, Vagueness: {}, Ambiguity: {}}, score{}
	for _, hand := range hands {
		m, err := learned.Train(slices.DeleteFunc(slices.Clone(examples), func(e learned.Example) bool { return e.Group == hand }), worthOptions())
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range all {
			if x.hand != hand {
				continue
			}
			var got, want []string // without categories
			for category, s := range told {
				found, labelled := gapsBy(m, x, category), x.gaps(category)
				s.add(found, labelled)
				got, want = append(got, uncategorised(found, category)...), append(want, uncategorised(labelled, category)...)
			}
			there.add(got, want)
		}
	}
	sum := score{}
	for category, s := range told {
		t.Logf("%s: %v", category, s)
		sum = score{sum.found + s.found, sum.right + s.right, sum.wanted + s.wanted}
	}
	t.Logf("all gaps: %v; by pair and aspect alone: %v", sum, there)
	if float64(there.right) < rightly*float64(there.found) || there.found == 0 {
		t.Errorf("%v: the bar is too low", there)
	}
}

// rightly is how many of the gaps that are told must be some, of just that aspect.
const rightly = 0.85

// TestHeldAnswersAreJudgedByTheLessons holds the figure of two hands that teach nothing: much of what they leave open is told fluently, and is about something else.
func TestHeldAnswersAreJudgedByTheLessons(t *testing.T) {
	for _, code := range []string{"de", "en"} {
		told := score{}
		for _, x := range answersTo(t, "training/held") {
			if x.language != code {
				continue
			}
			l := languageOf(x.language, "")
			q, a := l.question(x.all[0].Question), answer{text: x.all[0].Answer, sentences: l.sentences(x.all[0].Answer)}
			for _, given := range x.labels[0] {
				open := given.state != isGiven
				found := sureOf(l.worthOf(q, given.aspect, a)) >= surely
				told.found += count(found)
				told.right += count(found && open)
				told.wanted += count(open)
			}
		}
		t.Logf("%s: %v", code, told)
		if 4*told.right < 3*told.found || 20*told.right < 3*told.wanted {
			t.Errorf("%s: %v; three of four told must be open, and 15 of 100 found", code, told)
		}
	}
}

func count(is bool) int {
	if is {
		return 1
	}
	return 0
}

func uncategorised(labels []string, category string) (out []string) {
	for _, l := range labels {
		out = append(out, strings.Replace(l, category, "", 1))
	}
	return out
}

// gapsBy gives the gaps of a category that a model sees in the answers of an interview.
func gapsBy(m *learned.Model, x lesson, category string) (found []string) {
	l := *languageOf(x.language, "")
	l.worth = func() *learned.Model { return m }
	c := New(x.hypothesis, x.language)
	c.l = &l
	for k, e := range x.all {
		read := c.read(e)
		c.exchanges = append(c.exchanges, read)
		c.look(read, k, nil)
	}
	for _, g := range c.open {
		if g.Category == category {
			found = append(found, gapLabel(g.Pair, category, g.Aspect))
		}
	}
	return found
}

// gaps are those of a category that a hand labelled.
func (x lesson) gaps(category string) (list []string) {
	categoryOf := map[string]string{isMissing: Missing, isVague: Vagueness, "ambiguous": Ambiguity}
	for k, labels := range x.labels {
		for _, g := range labels {
			if categoryOf[g.state] == category {
				list = append(list, gapLabel(k, category, spoken(g.aspect)))
			}
		}
	}
	return list
}
