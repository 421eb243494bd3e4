package rules

import (
	"bytes"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sibyl/internal/learned"
)

// pairExample is two mentions of a lesson, held against each other.
type pairExample struct {
	hand     string
	lesson   int
	a, b     *mention
	evidence []float64
	clash    *lessonClash // of their exchanges
	real     bool         // they are the two sides of a contradiction
}

// pairExamples holds the answers of lessons against each other as a Case does.
func pairExamples(list []lesson) (out []pairExample) {
	for n, d := range list {
		c := New(d.hypothesis, d.language)
		for k, e := range d.all {
			x := c.read(e)
			c.exchanges = append(c.exchanges, x)
			found := c.mentions(&c.exchanges[k], k)
			c.count(&c.exchanges[k])
			c.pairs(found, func(a, b *mention) {
				out = append(out, sided(pairExample{hand: d.hand, lesson: n, a: a, b: b, evidence: slices.Clone(c.evidence(a, b))}, &d))
			})
			c.keep(found)
		}
	}
	return out
}

// sided says whether two mentions are the sides of a labelled clash.
func sided(e pairExample, d *lesson) pairExample {
	for k := range d.clashes {
		l := &d.clashes[k]
		if l.pairs != [2]int{e.a.pair, e.b.pair} {
			continue
		}
		e.clash = l
		fits := l.kind == e.a.kind || e.a.kind == Negation && l.kind != Number && l.kind != Date || l.kind == Other && e.a.kind == Name
		if l.words[0] == "" {
			fits = l.kind == e.a.kind
		}
		e.real = e.real || l.real && fits && touches(e.a, l.words[0]) && touches(e.b, l.words[1])
	}
	return e
}

// touches says whether a mention is part of some words of its answer.
func touches(m *mention, words string) bool {
	at := strings.Index(m.s.text, words)
	return at >= 0 && m.words[0].from < at+max(1, len(words)) && m.words[len(m.words)-1].to > at || words == ""
}

// trainJudges trains one for each kind. What is of a contradiction without being its sides teaches nothing.
func trainJudges(t testing.TB, examples []pairExample) map[string]*judge {
	all := map[string]*judge{}
	for _, kind := range kinds {
		var rows [][]float64
		var truths, weights []float64
		for _, e := range examples {
			if e.a.kind != kind || e.clash != nil && e.clash.real && !e.real {
				continue
			}
			weight := 1.0
			if e.clash != nil && !e.real {
				weight = 2 // it looks like one
			}
			rows, truths, weights = append(rows, e.evidence), append(truths, truth(e.real)), append(weights, weight)
		}
		j := standardised(rows)
		var sums []learned.Example
		for i, row := range rows {
			sums = append(sums, learned.Example{Features: j.standard(nil, row), Class: [2]string{agrees, clashes}[int(truths[i])], Weight: weights[i]})
		}
		var err error
		if j.line, err = learned.Train(sums, learned.Options{Classes: []string{agrees, clashes}, Size: 12, Rate: 0.1, Decay: 150}); err != nil {
			t.Fatal(err)
		}
		j.trees = grow(rows, truths, weights)
		all[kind] = j
	}
	return all
}

// standardised makes a judge that knows how its evidence is spread.
func standardised(rows [][]float64) *judge {
	j := &judge{names: names(len(rows[0]))}
	n := float64(len(rows))
	for f := range rows[0] {
		mean, square := 0.0, 0.0
		for _, row := range rows {
			mean += row[f] / n
		}
		for _, row := range rows {
			off := row[f] - mean
			square += float64(off*off) / n
		}
		j.mean = append(j.mean, float64(float32(mean)))
		j.scale = append(j.scale, float64(float32(1/math.Sqrt(square+0.01))))
	}
	return j
}

func judgesBytes(all map[string]*judge) (out []byte) {
	for _, kind := range kinds {
		out = append(out, all[kind].bytes()...)
	}
	return out
}

// ownLessons are the interviews of testdata.
func ownLessons(t *testing.T) (list []lesson) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		for _, i := range interviews(t, filepath.Base(f)) {
			d := lesson{hand: "own", name: i.name, language: i.language, hypothesis: i.hypothesis, all: i.all}
			for n, lines := range [][]string{i.clashes, i.missed, i.suspicions} {
				for _, line := range lines {
					l := lessonClash{real: n < 2}
					if _, err := fmt.Sscan(line, &l.pairs[0], &l.pairs[1], &l.kind); err != nil {
						t.Fatal(err)
					}
					d.clashes = append(d.clashes, l)
				}
			}
			list = append(list, d)
		}
	}
	return list
}

func TestTheWeightsOfClashesAreThoseOfTheLessons(t *testing.T) {
	list := slices.Concat(lessons(t, "training"), ownLessons(t))
	got := judgesBytes(trainJudges(t, pairExamples(list)))
	written(t, "clash.weights", got, clashWeights)
}

func TestTheWeightsOfRepliesAreThoseOfTheLessons(t *testing.T) {
	m, err := learned.Train(replyExamples(lessons(t, "training")), replyOptions())
	if err != nil {
		t.Fatal(err)
	}
	written(t, "reply.weights", m.Bytes(), replyWeights)
}

// written says whether a file holds what it should, or writes it.
func written(t *testing.T, name string, got, embedded []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(name, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(got, embedded) {
		t.Errorf("%s is not what the lessons give: %d bytes against %d; go generate writes it", name, len(got), len(embedded))
	}
}

func replyOptions() learned.Options {
	return learned.Options{Classes: []string{dissolves, stands}, Size: 16, Decay: 5}
}

// replyExamples are the replies of lessons to questions about two answers.
func replyExamples(list []lesson) (out []learned.Example) {
	for _, d := range list {
		l := languages()[d.language]
		for _, c := range d.clashes {
			if c.reply == "" {
				continue
			}
			e := learned.Example{Features: l.replyEvidence(c.words, answer{text: c.reply, sentences: l.sentences(c.reply)}), Class: dissolves, Weight: 1, Group: d.hand}
			switch {
			case !c.real:
				e.Weight = 0.6
			case c.then == "keeps" || c.then == "evades":
				e.Class = stands
			}
			out = append(out, e)
		}
	}
	return out
}

// heldOut judges the pairs of each hand by those of the others.
func heldOut(t *testing.T, examples []pairExample) []float64 {
	hands := map[string]bool{}
	for _, e := range examples {
		hands[e.hand] = true
	}
	out := make([]float64, len(examples))
	for hand := range hands {
		var rest []pairExample
		for _, e := range examples {
			if e.hand != hand {
				rest = append(rest, e)
			}
		}
		j := trainJudges(t, rest)
		for i, e := range examples {
			if e.hand == hand {
				out[i] = j[e.a.kind].probability(e.evidence, j[e.a.kind].standard(nil, e.evidence))
			}
		}
	}
	return out
}

// foldsAsked is for whoever changes what is learned from: it takes a minute.
var foldsAsked = flag.Bool("folds", false, "judge each hand by the others, and log the figures")

func TestWhatOthersTeachIsRightMoreOftenThanNotOfAHandThatWasNotSeen(t *testing.T) {
	if !*foldsAsked {
		t.Skip("only with -folds")
	}
	list := slices.Concat(lessons(t, "training"), ownLessons(t))
	examples := pairExamples(list)
	best := map[[3]int]pairExample{}
	held := heldOut(t, examples)
	probability := map[[3]int]float64{}
	for i, e := range examples {
		if key := [3]int{e.lesson, e.a.pair, e.b.pair}; held[i] > probability[key] {
			probability[key], best[key] = held[i], e
		}
	}
	for _, limit := range []float64{0.5, firm, suspected, 0.1, doubtful} {
		found, right := map[string]int{}, map[string]int{}
		for key, e := range best {
			if probability[key] >= limit {
				found[e.hand]++
				right[e.hand] += int(truth(e.clash != nil && e.clash.real))
			}
		}
		t.Logf("from %.2f on: right %v of %v", limit, right, found)
		if limit == 0.5 && 2*right["own"] < found["own"] {
			t.Errorf("%d of %d are right", right["own"], found["own"])
		}
	}
	replied := replyExamples(lessons(t, "training"))
	p, err := learned.HeldOut(replied, replyOptions())
	if err != nil {
		t.Fatal(err)
	}
	found, right := 0, 0
	for i, e := range replied {
		if p[i][1] >= leftStanding {
			found++
			right += int(truth(e.Class == stands))
		}
	}
	t.Logf("replies: %d of %d said to stand do", right, found)
	if 3*right < 2*found {
		t.Errorf("%d of %d replies are right", right, found)
	}
}

func TestDamagedWeightsAreAnErrorAndNoPanic(t *testing.T) {
	if _, err := loadJudges(clashWeights); err != nil {
		t.Fatal(err)
	}
	for cut := 0; cut < len(clashWeights); cut += 997 {
		if _, err := loadJudges(clashWeights[:cut]); err == nil {
			t.Fatalf("%d bytes are taken for all", cut)
		}
		damaged := bytes.Clone(clashWeights)
		damaged[cut] ^= 0xff
		if all, err := loadJudges(damaged); err == nil {
			for _, j := range all {
				e := make([]float64, len(j.mean))
				j.probability(e, j.standard(nil, e))
			}
		}
	}
}
