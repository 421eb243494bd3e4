package learned

import (
	"cmp"
	"math"
	"slices"
)

// fitted is a model before its weights are made small.
type fitted struct {
	classes int
	buckets []uint32 // that have weights, in ascending order
	weights []float64
	bias    []float64
	squares []float64 // sums of squares of gradients, beside weights
	touched []int     // by bucket: the step at which it was last drawn to 0
	seen    []int     // by bucket: how many rows have it
}

// fit goes through a set in shuffled rounds with steps that become smaller where much was learned (AdaGrad).
func (o Options) fit(set []row) *fitted {
	f := &fitted{classes: len(o.Classes), buckets: o.buckets(set), bias: make([]float64, len(o.Classes))}
	f.weights, f.squares = make([]float64, len(f.buckets)*f.classes), make([]float64, len(f.buckets)*f.classes)
	f.touched, f.seen = make([]int, len(f.buckets)), make([]int, len(f.buckets))
	rows := f.numbered(set)
	biasSquares := make([]float64, f.classes)
	order := make([]int, len(rows))
	for i := range order {
		order[i] = i
	}
	draw := shuffler{seedOf(set)}
	decay, alike := o.Decay/float64(len(rows)), o.Smooth/float64(f.classes)
	step := 0
	for range o.Rounds {
		draw.shuffle(order)
		for _, i := range order {
			r := rows[i]
			step++
			for _, c := range r.cells {
				f.shrink(int(c.bucket), step, o.Rate, decay)
			}
			p := softmax(f.scores(r), 1)
			p[r.class] -= 1 - o.Smooth
			for k := range p {
				g := (p[k] - alike) * r.weight
				biasSquares[k] += float64(g * g)
				f.bias[k] -= float64(o.Rate*g) / (1e-8 + math.Sqrt(biasSquares[k]))
				for _, c := range r.cells {
					at := int(c.bucket)*f.classes + k
					slope := float64(g * c.value)
					f.squares[at] += float64(slope * slope)
					f.weights[at] -= float64(o.Rate*slope) / (1e-8 + math.Sqrt(f.squares[at]))
				}
			}
		}
	}
	for b := range f.buckets {
		f.shrink(b, step, o.Rate, decay)
	}
	return f
}

// shrink draws the weights of a bucket to 0 for the steps since it was last touched.
func (f *fitted) shrink(b, step int, rate, decay float64) {
	steps := float64(step - f.touched[b])
	f.touched[b] = step
	for at := b * f.classes; at < (b+1)*f.classes; at++ {
		if f.weights[at] != 0 {
			f.weights[at] /= 1 + float64(float64(rate/(1e-8+math.Sqrt(f.squares[at])))*float64(decay*steps))
		}
	}
}

func (f *fitted) scores(r row) []float64 {
	sums := slices.Clone(f.bias)
	for _, c := range r.cells {
		for k, w := range f.weights[int(c.bucket)*f.classes : (int(c.bucket)+1)*f.classes] {
			sums[k] = float64(w*c.value) + sums[k]
		}
	}
	return sums
}

// buckets are those that enough rows have, in ascending order.
func (o Options) buckets(set []row) []uint32 {
	count := make([]int, 1<<o.Size)
	for _, r := range set {
		for _, c := range r.cells {
			count[c.bucket]++
		}
	}
	var kept []uint32
	for b, n := range count {
		if n >= max(1, o.Seen) {
			kept = append(kept, uint32(b))
		}
	}
	return kept
}

// numbered gives rows whose buckets are places among those of the model, and counts them; others are left out.
func (f *fitted) numbered(set []row) []row {
	out := make([]row, len(set))
	for i, r := range set {
		cells := make([]cell, 0, len(r.cells))
		for _, c := range r.cells {
			if at, found := slices.BinarySearch(f.buckets, c.bucket); found {
				cells = append(cells, cell{uint32(at), c.value})
			}
		}
		for _, c := range cells {
			f.seen[c.bucket]++
		}
		r.cells = cells
		out[i] = r
	}
	return out
}

// seedOf makes a seed of a set.
func seedOf(set []row) uint64 {
	seed := uint64(len(set))
	for _, r := range set {
		seed = mix(seed ^ uint64(r.class)<<32 ^ uint64(len(r.cells)))
		for _, c := range r.cells {
			seed = mix(seed^uint64(c.bucket)) + math.Float64bits(c.value)
		}
	}
	return seed
}

// quantised makes weights of eight bits. Buckets whose weights all are 0 then are left out.
func (f *fitted) quantised(o Options) *Model {
	m := &Model{classes: slices.Clone(o.Classes), size: o.Size, bias: slices.Clone(f.bias), scale: make([]float64, f.classes), temperature: 1}
	m.present = make([]uint64, words(o.Size))
	for k := range m.scale {
		top := 0.0
		for at := k; at < len(f.weights); at += f.classes {
			top = max(top, math.Abs(f.weights[at]))
		}
		m.scale[k] = 1
		if top > 0 {
			m.scale[k] = top / 127
		}
	}
	small := make([]int8, f.classes)
	kept := f.kept(o.Keep)
	for i, b := range f.buckets {
		some := false
		for k := range small {
			small[k] = int8(math.Round(f.weights[i*f.classes+k] / m.scale[k]))
			some = some || small[k] != 0
		}
		if some && kept[i] {
			m.present[b/64] |= 1 << (b % 64)
			m.weights = append(m.weights, small...)
		}
	}
	m.count()
	return m
}

// kept tells which buckets keep their weights: those of which one weight is farthest from the mean of its bucket, times the root of how often it is seen, since
// a weight that is seldom seen may be great and count for little. Of equals it is the first; all if most is 0.
func (f *fitted) kept(most int) []bool {
	apart, order, kept := make([]float64, len(f.buckets)), make([]int, len(f.buckets)), make([]bool, len(f.buckets))
	for i := range order {
		row := f.weights[i*f.classes : (i+1)*f.classes]
		mean := 0.0
		for _, w := range row {
			mean += w
		}
		mean /= float64(f.classes)
		for _, w := range row {
			apart[i] = max(apart[i], math.Abs(w-mean))
		}
		apart[i] *= math.Sqrt(float64(f.seen[i]))
		order[i] = i
	}
	if most > 0 && most < len(order) {
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(apart[b], apart[a]) })
		order = order[:most]
	}
	for _, i := range order {
		kept[i] = true
	}
	return kept
}

// words is how many numbers of 64 bits hold a bit for each bucket.
func words(size int) int { return (1<<size + 63) / 64 }

// scoresOf gives the scores of a row.
func (m *Model) scoresOf(r row) []float64 {
	sums := slices.Clone(m.bias)
	for _, c := range r.cells {
		for k, w := range m.row(c.bucket) {
			sums[k] = float64(float64(m.scale[k]*float64(w))*c.value) + sums[k]
		}
	}
	return sums
}
