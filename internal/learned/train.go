package learned

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
)

// Example is what a model learns from.
type Example struct {
	Features []Feature
	Class    string
	Weight   float64 // how much it counts; 0 is 1
	Group    string  // what must not be on both sides of a fold, such as the file it is from
}

// Options say how a model is trained. The zero value of a field is the default that it names.
type Options struct {
	Classes []string           // all of them, in the order of the probabilities
	Weights map[string]float64 // by class, 1 if absent: how much its examples count
	Size    int                // features are hashed to 1<<Size buckets: 18
	Seen    int                // features are dropped that fewer examples have: 2
	Rounds  int                // how often all examples are gone through: 20
	Rate    float64            // of the first step: 0.1
	Decay   float64            // L2: how strongly weights are drawn to 0, in examples: 1
	Smooth  float64            // the share of an example that counts for all classes alike, since a label may be wrong: 0
	Keep    int                // at most so many buckets have weights, those that tell classes apart most and most often: all

	// Temperature is by what scores are divided where examples are of one group, which shows nothing of it: 1.
	Temperature float64
}

const (
	defaultSize, largestSize = 18, 24
	defaultSeen              = 2
	defaultRounds            = 20
	defaultRate              = 0.1
	defaultDecay             = 1
	mostClasses              = 64
	fingerprint              = sha256.Size
)

func (o Options) complete() (Options, error) {
	o.Size, o.Seen, o.Rounds = cmp.Or(o.Size, defaultSize), cmp.Or(o.Seen, defaultSeen), cmp.Or(o.Rounds, defaultRounds)
	o.Rate, o.Decay, o.Temperature = cmp.Or(o.Rate, defaultRate), cmp.Or(o.Decay, defaultDecay), cmp.Or(o.Temperature, 1)
	switch {
	case len(o.Classes) < 2 || len(o.Classes) > mostClasses:
		return o, fmt.Errorf("%d classes; there must be 2 to %d", len(o.Classes), mostClasses)
	case o.Size < 1 || o.Size > largestSize:
		return o, fmt.Errorf("size %d; it must be 1 to %d", o.Size, largestSize)
	case o.Rounds < 0 || !(o.Rate > 0) || !(o.Decay >= 0) || math.IsInf(o.Rate+o.Decay, 0):
		return o, fmt.Errorf("%d rounds, rate %g, decay %g: none may be negative, and the rate must be above 0", o.Rounds, o.Rate, o.Decay)
	case !(o.Temperature > 0) || math.IsInf(o.Temperature, 0):
		return o, fmt.Errorf("temperature %g; it must be above 0", o.Temperature)
	case !(o.Smooth >= 0 && o.Smooth < 1) || o.Keep < 0:
		return o, fmt.Errorf("smooth %g, keep %d: the one must be at least 0 and below 1, the other not negative", o.Smooth, o.Keep)
	}
	for i, c := range o.Classes {
		if c == "" || len(c) > longestClass || slices.Contains(o.Classes[:i], c) {
			return o, fmt.Errorf("class %q: names must be different and of 1 to %d bytes", c, longestClass)
		}
	}
	return o, nil
}

// Train makes a model. Its probabilities are calibrated if the examples are of at least two groups.
func Train(examples []Example, options Options) (*Model, error) {
	o, err := options.complete()
	if err != nil {
		return nil, err
	}
	set, err := o.set(examples)
	if err != nil {
		return nil, err
	}
	m := o.fit(set).quantised(o)
	m.trained = fingerprintOf(examples)
	m.temperature = o.temperature(set)
	return m, nil
}

// Fingerprint is a hash of all that examples say, in hexadecimal digits: whether weights were trained with these very examples.
func Fingerprint(examples []Example) string {
	sum := fingerprintOf(examples)
	return hexadecimal(sum[:])
}

func hexadecimal(b []byte) string { return hex.EncodeToString(b) }

func fingerprintOf(examples []Example) (sum [fingerprint]byte) {
	h := sha256.New()
	var line []byte
	for _, e := range examples {
		line = fmt.Appendf(line[:0], "%q %q %x %d\n", e.Class, e.Group, math.Float64bits(e.Weight), len(e.Features))
		for _, f := range e.Features {
			line = binary.AppendUvarint(line, uint64(len(f.Name)))
			line = append(line, f.Name...)
			line = binary.BigEndian.AppendUint64(line, math.Float64bits(f.Value))
		}
		h.Write(line)
	}
	h.Sum(sum[:0])
	return sum
}

// row is an example as numbers.
type row struct {
	cells  []cell
	class  int
	weight float64
	group  string
}

type cell struct {
	bucket uint32
	value  float64
}

// set makes rows of examples.
func (o Options) set(examples []Example) ([]row, error) {
	set := make([]row, 0, len(examples))
	for i, e := range examples {
		r := row{class: slices.Index(o.Classes, e.Class), weight: cmp.Or(e.Weight, 1), group: e.Group}
		if r.class < 0 {
			return nil, fmt.Errorf("example %d is of the class %q, which is none of %q", i, e.Class, o.Classes)
		}
		if w, ok := o.Weights[e.Class]; ok {
			r.weight *= w
		}
		for _, f := range e.Features {
			if math.IsNaN(f.Value) || math.IsInf(f.Value, 0) {
				return nil, fmt.Errorf("example %d: the value of %q is no number", i, f.Name)
			}
			r.cells = append(r.cells, cell{bucket(f.Name, o.Size), f.Value})
		}
		slices.SortStableFunc(r.cells, func(a, b cell) int { return cmp.Compare(a.bucket, b.bucket) })
		r.cells = joined(r.cells)
		set = append(set, r)
	}
	if len(set) == 0 {
		return nil, fmt.Errorf("there is no example")
	}
	return set, nil
}

// joined adds up the values of cells of one bucket.
func joined(cells []cell) []cell {
	var out []cell
	for _, c := range cells {
		if n := len(out); n > 0 && out[n-1].bucket == c.bucket {
			out[n-1].value += c.value
			continue
		}
		out = append(out, c)
	}
	return out
}
