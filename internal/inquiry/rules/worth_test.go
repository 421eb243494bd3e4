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

// worthExample is what an answer is worth, as it is seen for the sum and for the trees.
type worthExample struct {
	learned.Example
	looks []float64
}

// worthExamples are those that the weights are trained with: the answers of all lessons, of single questions, and of the labelled interviews.
func worthExamples(t testing.TB) (all []worthExample) {
	t.Helper()
	for _, x := range slices.Concat(lessons(t, "training"), answersTo(t, "training/answers"), labelledInterviews(t)) {
		l := languageOf(x.language, "")
		for k, e := range x.all {
			q, a := l.question(e.Question), answer{text: e.Answer, sentences: l.sentences(e.Answer)}
			for _, given := range x.labels[k] {
				if given.state != "ambiguous" && len(a.sentences) > 0 {
					own := learned.Example{Features: l.signsOf(q, given.aspect, a), Class: given.state, Group: x.hand}
					all = append(all, worthExample{own, l.looks(q, given.aspect, a)})
				}
			}
		}
	}
	return all
}

// sums are examples as the sum takes them.
func sums(all []worthExample) (out []learned.Example) {
	for _, e := range all {
		out = append(out, e.Example)
	}
	return out
}

// growTrees makes the trees of some examples.
func growTrees(all []worthExample) *worthTrees {
	var rows, gaps [][]float64
	var open, missing []float64
	for _, e := range all {
		rows, open = append(rows, e.looks), append(open, truth(e.Class != isGiven))
		if e.Class != isGiven {
			gaps, missing = append(gaps, e.looks), append(missing, truth(e.Class == isMissing))
		}
	}
	ones := slices.Repeat([]float64{1}, len(all))
	return &worthTrees{open: grow(rows, open, ones), missing: grow(gaps, missing, ones[:len(gaps)])}
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
	trainedAgain(t, "worth.weights", worthFile, sums(worthExamples(t)), worthOptions())
}

func TestTreesAreThoseOfTheLessons(t *testing.T) {
	written(t, "trees.weights", growTrees(worthExamples(t)).bytes(), treesFile)
}

func TestDamagedTreesAreAnErrorAndNoPanic(t *testing.T) {
	for cut := 0; cut < len(treesFile); cut += 997 {
		if _, err := loadTrees(treesFile[:cut]); err == nil {
			t.Fatalf("%d bytes are taken for all", cut)
		}
		damaged := bytes.Clone(treesFile)
		damaged[cut] ^= 0xff
		if w, err := loadTrees(damaged); err == nil {
			worthOf([]float64{0.5, 0.25, 0.25}, make([]float64, looksSeen), w)
		}
	}
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
	examples := worthExamples(t)
	p, err := learned.HeldOut(sums(examples), worthOptions())
	if err != nil {
		t.Fatal(err)
	}
	grown := map[string]*worthTrees{}
	found, open, right, gaps := 0, 0, 0, 0
	for i, e := range examples {
		if !strings.Contains(e.Group, "-") {
			continue
		}
		if grown[e.Group] == nil {
			grown[e.Group] = growTrees(slices.DeleteFunc(slices.Clone(examples), func(o worthExample) bool { return o.Group == e.Group }))
		}
		gaps += one(e.Class != isGiven)
		o, m := worthOf(p[i], e.looks, grown[e.Group])
		if sureOf(o, m) < surely {
			continue
		}
		found++
		open += one(e.Class != isGiven)
		right += one(m > 0.5 && e.Class == isMissing || m <= 0.5 && e.Class == isVague)
	}
	t.Logf("of the answers that are said to leave something open, %d of %d do, and %d in just that way; of those that do, %d of %d are found", open, found, right, open, gaps)
	if float64(open) < 0.88*float64(found) || found == 0 {
		t.Errorf("%d of %d: the bar is too low", open, found)
	}
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}
