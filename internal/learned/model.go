package learned

import (
	"math/bits"
	"slices"
)

// Feature is something that is seen in what is to be classified. The same name may come more than once; values are added.
type Feature struct {
	Name  string
	Value float64 // 1 for what is just there
}

// Seen makes features of names, each with the value 1.
func Seen(names ...string) []Feature {
	list := make([]Feature, len(names))
	for i, n := range names {
		list[i] = Feature{n, 1}
	}
	return list
}

// Model is a classifier.
type Model struct {
	classes     []string
	size        int       // buckets are numbered below 1<<size
	bias        []float64 // by class
	scale       []float64 // by class: what a weight of 1 stands for
	temperature float64
	trained     [fingerprint]byte
	present     []uint64 // a bit for each bucket that has weights
	before      []uint32 // by word of present: buckets that have weights in the words before it
	weights     []int8   // rows of buckets that are present, one weight a class
}

// Class is the place of a class among the probabilities, or -1.
func (m *Model) Class(name string) int { return slices.Index(m.classes, name) }

// Trained is the fingerprint of the examples that the model was trained with: see Fingerprint.
func (m *Model) Trained() string { return hexadecimal(m.trained[:]) }

// Probabilities gives one for each class; they add up to 1.
func (m *Model) Probabilities(features []Feature) []float64 {
	return softmax(m.scores(features), m.temperature)
}

// Best is the most probable class, the first of equals, and its probability.
func (m *Model) Best(features []Feature) (class string, probability float64) {
	for i, p := range m.Probabilities(features) {
		if p > probability {
			class, probability = m.classes[i], p
		}
	}
	return class, probability
}

func (m *Model) scores(features []Feature) []float64 {
	sums := slices.Clone(m.bias)
	for _, f := range features {
		row := m.row(bucket(f.Name, m.size))
		for c, w := range row {
			sums[c] = float64(float64(m.scale[c]*float64(w))*f.Value) + sums[c]
		}
	}
	return sums
}

// row gives the weights of a bucket by class, or nothing.
func (m *Model) row(b uint32) []int8 {
	word, bit := b/64, b%64
	if m.present[word]>>bit&1 == 0 {
		return nil
	}
	i := int(m.before[word]) + bits.OnesCount64(m.present[word]&(1<<bit-1))
	return m.weights[i*len(m.classes) : (i+1)*len(m.classes)]
}

// Reason is what a feature adds to the score of a class, above what it adds to the others on average.
type Reason struct {
	Name   string
	Weight float64
}

// Gain is what a feature adds to the score of a class, by its place, above what it adds to the others on average. known is false for a
// feature that was not learned, and a class that is none.
func (m *Model) Gain(f Feature, class int) (gain float64, known bool) {
	row := m.row(bucket(f.Name, m.size))
	if row == nil || class < 0 {
		return 0, false
	}
	others := 0.0
	for o, w := range row {
		if o != class {
			others += float64(m.scale[o] * float64(w))
		}
	}
	own := float64(m.scale[class] * float64(row[class]))
	return (own - others/float64(len(row)-1)) * f.Value, true
}

// Reasons are the features that speak most for a class, or against it if their weight is negative; the strongest first, at most as many as asked for.
func (m *Model) Reasons(features []Feature, class string, most int) []Reason {
	c := m.Class(class)
	all := make([]Reason, 0, len(features))
	for _, f := range features {
		if gain, known := m.Gain(f, c); known {
			all = append(all, Reason{f.Name, gain})
		}
	}
	slices.SortStableFunc(all, func(a, b Reason) int {
		switch x, y := max(a.Weight, -a.Weight), max(b.Weight, -b.Weight); {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return 0
	})
	return all[:max(0, min(most, len(all)))]
}
