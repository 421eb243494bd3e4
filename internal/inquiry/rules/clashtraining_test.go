package rules

import (
	"bytes"
	"cmp"
	"encoding/json"
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
	whole    bool         // the questions were about the hypothesis alone
}

// pairExamples holds the answers of lessons against each other as a Case does; if asked so, as answers to questions about the hypothesis alone.
func pairExamples(list []lesson, whole bool) (out []pairExample) {
	for n, d := range list {
		c := New(d.hypothesis, d.language)
		for k, e := range d.all {
			if whole {
				e.Question = fmt.Sprintf(c.l.say["ask "+c.l.question(e.Question).asked[0]], c.told())
			}
			x := c.read(e)
			c.exchanges = append(c.exchanges, x)
			found := c.mentions(&c.exchanges[k], k)
			c.count(&c.exchanges[k])
			c.pairs(found, func(a, b *mention) {
				out = append(out, sided(pairExample{whole: whole, hand: d.hand, lesson: n, a: a, b: b, evidence: slices.Clone(c.evidence(a, b))}, &d))
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
			if e.whole {
				weight /= 2
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

var update = flag.Bool("update", false, "write weights")

func TestTheWeightsOfClashesAreThoseOfTheLessons(t *testing.T) {
	list := slices.Concat(lessons(t, "training"), ownLessons(t))
	got := judgesBytes(trainJudges(t, pairExamples(list, false)))
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
	return learned.Options{Classes: []string{dissolves, stands}, Size: 16, Decay: 10}
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

// heldOut judges the pairs of each hand by the others. What is of no hand teaches in every fold; the cases of the open half in none.
func heldOut(t *testing.T, examples []pairExample) []float64 {
	hands := map[string]bool{}
	for _, e := range examples {
		hands[e.hand] = true
	}
	out := make([]float64, len(examples))
	for hand := range hands {
		var rest []pairExample
		for _, e := range examples {
			if e.hand != hand && e.hand != "open" {
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

func TestClashFolds(t *testing.T) {
	if os.Getenv("OPEN") == "" {
		t.Skip()
	}
	list := slices.Concat(lessons(t, "training"), ownLessons(t), openLessons(t, os.Getenv("OPEN")))
	examples := pairExamples(list, false)
	if os.Getenv("WHOLE") != "" {
		examples = append(examples, pairExamples(list, true)...)
	}
	dialogues := os.Getenv("WHOLE") == "2"
	count := map[string]int{}
	for _, e := range examples {
		count[e.hand] += int(truth(e.real))
	}
	fmt.Println("open right candidates", len(examples), count)
	p := heldOut(t, examples)
	type scored struct {
		p float64
		e *pairExample
	}
	curves := map[string][]scored{}
	for hand := range map[string]bool{"de-a": true, "de-b": true, "en-a": true, "en-b": true, "own": true, "open": true} {
		best := map[[3]int]scored{}
		for i := range examples {
			e := &examples[i]
			if e.hand != hand || e.whole != dialogues {
				continue
			}
			key := [3]int{e.lesson, e.a.pair, e.b.pair}
			if s, ok := best[key]; !ok || p[i] > s.p {
				best[key] = scored{p[i], e}
			}
		}
		for _, s := range best {
			curves[hand] = append(curves[hand], s)
			if len(hand) == 4 && hand != "open" {
				curves["hands"] = append(curves["hands"], s)
			}
		}
	}
	want := map[string]int{}
	for _, d := range list {
		for _, c := range d.clashes {
			if c.real {
				want[d.hand]++
				if len(d.hand) == 4 && d.hand != "open" {
					want["hands"]++
				}
			}
		}
	}
	for _, hand := range []string{"de-a", "de-b", "en-a", "en-b", "hands", "own", "open"} {
		s := curves[hand]
		slices.SortFunc(s, func(a, b scored) int {
			return cmp.Or(cmp.Compare(b.p, a.p), cmp.Compare(a.e.lesson, b.e.lesson), cmp.Compare(a.e.a.pair, b.e.a.pair), cmp.Compare(a.e.b.pair, b.e.b.pair))
		})
		right, ap := 0, 0.0
		for n, x := range s {
			if x.e.clash != nil && x.e.clash.real {
				right++
				ap += float64(right) / float64(n+1)
			}
		}
		line := fmt.Sprintf("%-6s of %3d, AP %.3f", hand, want[hand], ap/float64(want[hand]))
		for _, limit := range []float64{0.7, 0.6, 0.5, 0.4, 0.3, 0.25, 0.2, 0.15, 0.1, 0.05} {
			n, right := 0, 0
			for _, x := range s {
				if x.p >= limit {
					n++
					right += int(truth(x.e.clash != nil && x.e.clash.real))
				}
			}
			line += fmt.Sprintf("  %.2f: %d/%d", limit, right, n)
		}
		fmt.Println(line)
		top := map[int]bool{}
		line = "       top1"
		var firsts []scored
		for _, x := range s {
			if !top[x.e.lesson] {
				top[x.e.lesson] = true
				firsts = append(firsts, x)
			}
		}
		for _, limit := range []float64{0.7, 0.6, 0.5, 0.45, 0.4, 0.37, 0.34, 0.32, 0.3, 0.28, 0.25, 0.2} {
			n, right := 0, 0
			for _, x := range firsts {
				if x.p >= limit {
					n++
					right += int(truth(x.e.clash != nil && x.e.clash.real))
				}
			}
			line += fmt.Sprintf("  %.2f: %d/%d", limit, right, n)
		}
		fmt.Println(line)
		for _, kind := range kinds {
			fmt.Printf("     %-9s", kind)
			for _, limit := range []float64{0.6, 0.5, 0.4, 0.3, 0.2} {
				n, right := 0, 0
				for _, x := range s {
					if x.p >= limit && x.e.a.kind == kind {
						n++
						right += int(truth(x.e.clash != nil && x.e.clash.real))
					}
				}
				fmt.Printf("  %.2f: %d/%d", limit, right, n)
			}
			fmt.Println()
		}
		if os.Getenv("SHOWN") == hand {
			for n, x := range s {
				if n < 40 || x.e.clash != nil && x.e.clash.real {
					d := list[x.e.lesson]
					fmt.Printf("%d %.3f %v %s %d-%d %s trap=%v: %s | %s\n    Q %s\n    A %s\n    Q %s\n    A %s\n", n, x.p, x.e.clash != nil && x.e.clash.real, d.name, x.e.a.pair, x.e.b.pair, x.e.a.kind, x.e.clash != nil && !x.e.clash.real,
						span(x.e.a.s.text, x.e.a.words), span(x.e.b.s.text, x.e.b.words), d.all[x.e.a.pair].Question, d.all[x.e.a.pair].Answer, d.all[x.e.b.pair].Question, d.all[x.e.b.pair].Answer)
				}
			}
		}
	}
}

func openLessons(t *testing.T, file string) (list []lesson) {
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	type label struct {
		Pairs       [2]int
		Kind        string
		Words       [2]string
		Then, Reply string
	}
	for line := range strings.Lines(string(content)) {
		var c struct {
			ID, Lang, Hypothesis  string
			Frozen                bool
			Pairs                 []struct{ Question, Answer string }
			Contradictions, Traps []label
		}
		if err := json.Unmarshal([]byte(line), &c); err != nil || c.Frozen {
			t.Fatal(err, c.Frozen)
		}
		d := lesson{hand: "open", name: c.ID, language: c.Lang, hypothesis: c.Hypothesis}
		for _, p := range c.Pairs {
			d.all = append(d.all, Exchange{Question: p.Question, Answer: p.Answer})
		}
		for n, ls := range [][]label{c.Contradictions, c.Traps} {
			for _, l := range ls {
				if l.Pairs[0] > l.Pairs[1] {
					l.Pairs[0], l.Pairs[1] = l.Pairs[1], l.Pairs[0]
					l.Words[0], l.Words[1] = l.Words[1], l.Words[0]
				}
				d.clashes = append(d.clashes, lessonClash{real: n == 0, kind: l.Kind, pairs: l.Pairs, words: l.Words, then: l.Then, reply: l.Reply})
			}
		}
		list = append(list, d)
	}
	return list
}

func TestReplyFolds(t *testing.T) {
	if os.Getenv("OPEN") == "" {
		t.Skip()
	}
	o := replyOptions()
	fmt.Sscan(os.Getenv("REPLY"), &o.Decay, &o.Rate, &o.Rounds)
	for _, set := range []string{"hands", "open"} {
		examples := replyExamples(lessons(t, "training"))
		var p [][]float64
		var err error
		if set == "hands" {
			if p, err = learned.HeldOut(examples, o); err != nil {
				t.Fatal(err)
			}
		} else {
			m, err := learned.Train(examples, o)
			if err != nil {
				t.Fatal(err)
			}
			examples = replyExamples(openLessons(t, os.Getenv("OPEN")))
			for _, e := range examples {
				p = append(p, m.Probabilities(e.Features))
			}
		}
		line := set
		loss := 0.0
		for _, limit := range []float64{0.4, 0.5, 0.6, 0.7, 0.8} {
			var right, wrong, trap, all int
			for i, e := range examples {
				stand := e.Class == stands
				all += int(truth(stand))
				switch {
				case p[i][1] < limit:
				case stand:
					right++
				case e.Weight < 1:
					trap++
				default:
					wrong++
				}
			}
			line += fmt.Sprintf("  %.1f: %d/%d wrong %d trap %d", limit, right, all, wrong, trap)
		}
		for i, e := range examples {
			loss -= math.Log(max(1e-6, p[i][int(truth(e.Class == stands))]))
		}
		fmt.Println(line, "loss", loss/float64(len(examples)))
	}
}
