package classify

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"sibyl/internal/learned"
)

var update = flag.Bool("update", false, "train and write the weights anew")

// trainOptions are how classify.weights is trained.
func trainOptions() learned.Options {
	o := learned.Options{Size: 19, Rounds: 4, Seen: 3, Rate: 0.05, Smooth: 0.02, Keep: 96_000, Temperature: 0.85}
	for _, t := range types {
		o.Classes = append(o.Classes, string(t))
	}
	return o
}

// What a question counts beside one that somebody wrote as people ask: one that was made of a pattern, and one of a hand that wrote mostly what misleads.
const (
	patternWeight    = 0.2
	misleadingWeight = 0.3
)

// misleading are the hands that wrote mostly what misleads.
var misleading = []string{"u", "v"}

// lesson is a question of the folder training.
type lesson struct {
	labels []Type // that are fair; the first is the likelier
	query  Query
	hand   string // the file that it is from
	weight float64
}

// lessons are all questions to learn from.
func lessons(t testing.TB) []lesson { return lessonsIn(t, "training") }

// lessonsIn are the questions of a folder, in the order of its files.
func lessonsIn(t testing.TB, folder string) (all []lesson) {
	t.Helper()
	files, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if f.IsDir() {
			continue
		}
		name, kind, _ := strings.Cut(f.Name(), ".")
		content, err := os.ReadFile(folder + "/" + f.Name())
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(string(content), "\n")
		switch kind {
		case "patterns":
			if lines, err = filled(lines); err != nil {
				t.Fatalf("%s: %v", f.Name(), err)
			}
		case "txt":
		default:
			continue
		}
		for n, line := range lines {
			if line == "" || line[0] == '#' {
				continue
			}
			l, err := readLesson(line)
			if err != nil {
				t.Fatalf("%s:%d: %v", f.Name(), n+1, err)
			}
			l.hand, l.weight = name, 1
			switch {
			case kind == "patterns":
				l.weight = patternWeight
			case slices.Contains(misleading, name):
				l.weight = misleadingWeight
			}
			all = append(all, l)
		}
	}
	return all
}

// readLesson reads a line: labels, the question and those before it, with tabs between. \n in a question is the end of a line.
func readLesson(line string) (l lesson, err error) {
	parts := strings.Split(line, "\t")
	for label := range strings.SplitSeq(parts[0], "|") {
		if !Type(label).Valid() {
			return l, fmt.Errorf("the label %q is none of %v", label, types)
		}
		l.labels = append(l.labels, Type(label))
	}
	if len(parts) < 2 || slices.Contains(parts, "") {
		return l, fmt.Errorf("%q: wants a label and a question, and the questions before it, with one tab between", line)
	}
	l.query = Query{Text: strings.ReplaceAll(parts[1], `\n`, "\n"), Previous: parts[2:]}
	return l, nil
}

// examples are lessons as the classifier learns from them. What the questions before them were is found out by one that has learned from the lessons
// that have none before them.
func examples(t testing.TB, all []lesson) (out []learned.Example) {
	t.Helper()
	var alone []learned.Example
	for _, l := range all {
		if len(l.query.Previous) == 0 {
			alone = append(alone, l.example())
		}
	}
	o := trainOptions()
	o.Rounds = 2
	m, err := learned.Train(alone, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range all {
		for i, earlier := range l.query.Previous {
			before := lesson{query: Query{Text: earlier, Previous: l.query.Previous[:i], PreviousType: l.query.PreviousType}, labels: types[:1]}
			if got, _ := m.Best(before.example().Features); Type(got) != Conversational {
				l.query.PreviousType = Type(got)
			}
		}
		out = append(out, l.example())
	}
	return out
}

func (l lesson) example() learned.Example {
	t := newText(l.query.Text)
	return learned.Example{Features: signsOf(t, l.query).all, Class: string(l.labels[0]), Weight: l.weight}
}

// secondCounts is what the second of two fair labels counts beside the first.
const secondCounts = 0.4

// learn trains a classifier with those lessons that are wanted, of which seen are the examples. Its temperature is the one by which
// the hands' probabilities are as sure as they ought to be.
func learn(t testing.TB, all []lesson, seen []learned.Example, wanted func(lesson) bool) *learned.Model {
	t.Helper()
	var chosen []learned.Example
	for i, l := range all {
		if !wanted(l) {
			continue
		}
		first := seen[i]
		if len(l.labels) > 1 {
			second := first
			second.Class, second.Weight = string(l.labels[1]), first.Weight*secondCounts
			first.Weight -= second.Weight
			chosen = append(chosen, second)
		}
		chosen = append(chosen, first)
	}
	m, err := learned.Train(chosen, trainOptions())
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestWeightsAreThoseOfTheQuestions trains again. With -update it writes what comes out.
func TestWeightsAreThoseOfTheQuestions(t *testing.T) {
	all := lessons(t)
	m := learn(t, all, examples(t, all), func(lesson) bool { return true })
	switch {
	case *update:
		if err := os.WriteFile("classify.weights", m.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	case !bytes.Equal(m.Bytes(), weightsFile):
		t.Error("the questions, or what is seen in them, give other weights than classify.weights: go generate ./internal/oracle/classify")
	}
}

// figures are how well types are told, and sources offered from a probability of 0.1 on.
type figures struct {
	all, right, needed, sources int
	told, came                  [10]float64 // by tenths of the probability of the type: what was told, and how often it was right
	in                          [10]float64
}

func (f *figures) add(labels []Type, p []float64) {
	best := slices.Index(p, slices.Max(p))
	right := slices.Contains(labels, types[best])
	tenth := min(9, int(10*p[best]))
	f.all, f.right = f.all+1, f.right+one(right)
	f.in[tenth], f.told[tenth], f.came[tenth] = f.in[tenth]+1, f.told[tenth]+p[best], f.came[tenth]+float64(one(right))
	vault := p[docs] + p[write]
	f.sources += one(p[code] >= 0.1) + one(vault >= 0.1) + one(p[web] >= 0.1)
	f.needed += one(slices.ContainsFunc(labels, func(t Type) bool {
		return t == Conversational || t == Code && p[code] >= 0.1 || (t == Documentation || t == Action) && vault >= 0.1 || t == Research && p[web] >= 0.1
	}))
}

func (f *figures) String() string {
	wrong := 0.0
	for i, n := range f.in {
		if n > 0 {
			wrong += max(f.told[i]-f.came[i], f.came[i]-f.told[i]) / float64(f.all)
		}
	}
	part := func(n int) float64 { return 100 * float64(n) / float64(max(f.all, 1)) }
	return fmt.Sprintf("%d questions: type %.1f %%, needed source offered %.1f %%, %.2f sources a question, calibration error %.3f",
		f.all, part(f.right), part(f.needed), part(f.sources)/100, wrong)
}

// TestHandsAreJudgedByTheOthers gives the honest figure: the questions of each hand by a classifier that learned from all other files. It takes a while, so it
// is made with -update alone.
func TestHandsAreJudgedByTheOthers(t *testing.T) {
	if !*update {
		t.Skip("-update makes the figures of the hands")
	}
	all := lessons(t)
	seen := examples(t, all)
	var together figures
	for _, hand := range []string{"a", "b", "c", "e", "f", "g", "h", "i", "k", "n", "o", "p", "r", "s", "t", "u", "v"} {
		var f figures
		m := learn(t, all, seen, func(l lesson) bool { return l.hand != hand })
		for i, l := range all {
			if l.hand == hand {
				p := m.Probabilities(seen[i].Features)
				f.add(l.labels, p)
				if !slices.Contains(misleading, hand) {
					together.add(l.labels, p)
				}
			}
		}
		t.Logf("%s: %s", hand, f.String())
	}
	t.Logf("together, but for those that mislead: %s", together.String())
	if float64(together.right) < 0.87*float64(together.all) || float64(together.needed) < 0.97*float64(together.all) {
		t.Error("it was 87 of 100, and 97 of 100 sources that are needed")
	}
}

// Nobody has looked at a question of the folder held to change what the classifier does, and nothing is learned from them.
func TestHeldHandsAreTold(t *testing.T) {
	byHand := map[string]*figures{}
	for _, l := range lessonsIn(t, "training/held") {
		q := l.query
		for i, earlier := range l.query.Previous {
			before := Query{Text: earlier, Previous: l.query.Previous[:i], PreviousType: q.PreviousType}
			if got := Classify(before).QueryType; got != Conversational {
				q.PreviousType = got
			}
		}
		if byHand[l.hand] == nil {
			byHand[l.hand] = &figures{}
		}
		told, p := Classify(q).Probabilities, make([]float64, len(types))
		for k, kind := range types {
			p[k] = told[kind]
		}
		byHand[l.hand].add(l.labels, p)
	}
	for hand, f := range byHand {
		t.Logf("%s: %s", hand, f)
		if n := float64(f.all); float64(f.right) < 0.92*n || float64(f.needed) < 0.97*n || float64(f.sources) > 1.3*n {
			t.Errorf("%s: wanted are 92 of 100 types, 97 of 100 sources that are needed, and at most 1.3 sources a question", hand)
		}
	}
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}
