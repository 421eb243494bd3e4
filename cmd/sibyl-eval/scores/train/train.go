// Package train makes the weights of the classifier of questions from the texts in eval/training, whose README says how
// they are written.
package train

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"io/fs"
	"math"
	"math/rand/v2"
	"path"
	"regexp"
	"slices"
	"strings"

	"sibyl/internal/oracle/classify"
)

// Lesson is a question with the labels that are fair; the first is the likelier.
type Lesson struct {
	Labels []classify.Type
	Query  classify.Query
	weight float64
}

// What a question counts that was made of a pattern, beside one that somebody wrote as people ask; and the second of
// two fair labels beside the first.
const (
	patternWeight = 0.2
	secondWeight  = 0.4
)

// Lessons reads texts and patterns whose names match, in the order of these.
func Lessons(files fs.FS, matching string) (all []Lesson, err error) {
	names, err := fs.Glob(files, matching)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		content, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		lines, weight := strings.Split(string(content), "\n"), 1.0
		switch {
		case path.Ext(name) == ".patterns":
			lines, weight = filled(lines), patternWeight
		case path.Ext(name) != ".txt":
			continue
		}
		for n, line := range lines {
			if line == "" || line[0] == '#' {
				continue
			}
			l, err := lesson(line)
			if err != nil {
				return nil, fmt.Errorf("%s:%d: %w", name, n+1, err)
			}
			l.weight = weight
			all = append(all, l)
		}
	}
	return all, nil
}

// lesson reads a line: labels, the question and those before it, with tabs between. \n in a question is the end of a
// line.
func lesson(line string) (l Lesson, err error) {
	parts := strings.Split(line, "\t")
	for label := range strings.SplitSeq(parts[0], "|") {
		l.Labels = append(l.Labels, classify.Type(label))
		if !classify.Type(label).Valid() {
			return l, fmt.Errorf("the label %q is none of %v", label, classify.Types())
		}
	}
	if len(parts) < 2 || slices.Contains(parts, "") {
		return l, fmt.Errorf("%q: wants a label and a question, and the questions before it, with one tab between",
			line)
	}
	l.Query = classify.Query{Text: strings.ReplaceAll(parts[1], `\n`, "\n"), Previous: parts[2:]}
	return l, nil
}

// fillings is how many questions are made of a pattern.
const fillings = 24

// filled makes questions of patterns: a line ‘$name: word | word’ gives the words of a slot, any other is a question
// with slots in it as {name}. Which words are taken follows from the pattern.
func filled(lines []string) (out []string) {
	slot := regexp.MustCompile(`\{(\w+)\}`)
	slots := map[string][]string{}
	var patterns []string
	for _, line := range lines {
		if name, words, ok := strings.Cut(line, ": "); ok && line[0] == '$' {
			slots["{"+name[1:]+"}"] = strings.Split(words, " | ")
		} else if line != "" && line[0] != '#' {
			patterns = append(patterns, line)
		}
	}
	for _, pattern := range patterns {
		h := fnv.New64a()
		h.Write([]byte(pattern))
		draw := rand.New(rand.NewPCG(h.Sum64(), 0))
		fill := func(name string) string { return slots[name][draw.IntN(len(slots[name]))] }
		var made []string
		for range fillings {
			made = append(made, slot.ReplaceAllStringFunc(pattern, fill))
		}
		slices.Sort(made)
		out = append(out, slices.Compact(made)...)
	}
	return out
}

// How weights are trained.
const (
	rounds      = 4      // how often all lessons are gone through
	earlyRounds = 2      // for weights that say what the questions before a lesson were
	rate        = 0.05   // of a step
	smooth      = 0.02   // the share of a lesson that counts for all types alike, since a label may be wrong
	leastShown  = 3      // signs are dropped that fewer lessons show
	keep        = 55_000 // signs that keep weights: those that tell types apart most and most often
	levels      = 24     // greatest weight: fewer levels take fewer bytes
	sure        = 1.1    // by what scores are multiplied, so that probabilities are as sure as they ought to be
)

// Train gives weights. What the questions before a lesson were is found out by weights that have learned from lessons
// with none before them.
func Train(all []Lesson) *classify.Model {
	early := fit(rows(all, nil), earlyRounds)
	return fit(rows(all, early), rounds)
}

const types = 5

// row is a lesson as numbers.
type row struct {
	seen   []classify.Sign
	target [types]float64
	weight float64
}

// rows are lessons as numbers: without a model those that have no questions before them, else all.
func rows(all []Lesson, m *classify.Model) (out []row) {
	for _, l := range all {
		if m == nil && len(l.Query.Previous) > 0 {
			continue
		}
		q := l.Query
		for i, earlier := range q.Previous {
			p := m.Probabilities(classify.Signs(classify.Query{Text: earlier, Previous: q.Previous[:i],
				PreviousType: q.PreviousType}))
			if got := classify.Types()[slices.Index(p, slices.Max(p))]; got != classify.Conversational {
				q.PreviousType = got
			}
		}
		r := row{seen: classify.Signs(q), weight: l.weight}
		for k, t := range classify.Types() {
			r.target[k] = smooth / types
			switch slices.Index(l.Labels, t) {
			case 0:
				r.target[k] += (1 - smooth) * (1 - secondWeight*float64(min(1, len(l.Labels)-1)))
			case 1:
				r.target[k] += (1 - smooth) * secondWeight
			}
		}
		out = append(out, r)
	}
	return out
}

// learner has a weight for each type of each sign, the bias behind them, with the sums of squares of their slopes: the
// more was learned, the smaller are the steps (AdaGrad).
type learner struct {
	weights, squares [][types]float64
	shown            []int // by how many lessons a sign is shown
}

func fit(all []row, rounds int) *classify.Model {
	const n = classify.Buckets + 1
	f := &learner{make([][types]float64, n), make([][types]float64, n), make([]int, n)}
	for _, r := range all {
		for _, s := range r.seen {
			f.shown[s.Bucket]++
		}
	}
	for i, r := range all {
		r.seen = slices.DeleteFunc(r.seen, func(s classify.Sign) bool { return f.shown[s.Bucket] < leastShown })
		all[i].seen = append(r.seen, classify.Sign{Bucket: classify.Buckets, Count: 1})
	}
	order := rand.New(rand.NewPCG(1, uint64(len(all))))
	for range rounds {
		for _, i := range order.Perm(len(all)) {
			f.learn(all[i])
		}
	}
	return f.model()
}

func (f *learner) learn(r row) {
	var p [types]float64
	for _, s := range r.seen {
		for k, w := range f.weights[s.Bucket] {
			p[k] += w * s.Count
		}
	}
	top, sum := slices.Max(p[:]), 0.0
	for k := range p {
		p[k] = math.Exp(p[k] - top)
		sum += p[k]
	}
	for k := range p {
		slope := (p[k]/sum - r.target[k]) * r.weight
		for _, s := range r.seen {
			by, square := slope*s.Count, &f.squares[s.Bucket][k]
			*square += by * by
			f.weights[s.Bucket][k] -= rate * by / (1e-8 + math.Sqrt(*square))
		}
	}
}

// model has the weights that count most, in small numbers. What all types share says nothing, and is taken off.
func (f *learner) model() *classify.Model {
	order, counts, top := make([]int, classify.Buckets), make([]float64, classify.Buckets), 0.0
	for b := range order {
		order[b] = b
		mean := 0.0
		for _, w := range f.weights[b] {
			mean += w / types
		}
		for k := range f.weights[b] {
			f.weights[b][k] -= mean
			counts[b] = max(counts[b], math.Abs(f.weights[b][k])*math.Sqrt(float64(f.shown[b])))
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(counts[b], counts[a]) })
	for _, b := range order[:keep] {
		top = max(top, slices.Max(f.weights[b][:]), -slices.Min(f.weights[b][:]))
	}
	m := &classify.Model{Scale: sure * top / levels}
	for _, b := range order[:keep] {
		for k, w := range f.weights[b] {
			m.Weights[b][k] = int8(math.Round(w * levels / top))
		}
	}
	for k, w := range f.weights[classify.Buckets] {
		m.Bias[k] = sure * w
	}
	return m
}

// Bytes is the file of a model, which classify.Load reads.
func Bytes(m *classify.Model) ([]byte, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	for _, part := range []any{m.Bias, m.Scale, m.Weights} {
		if err := binary.Write(w, binary.LittleEndian, part); err != nil {
			return nil, err
		}
	}
	err = w.Close()
	return b.Bytes(), err
}
