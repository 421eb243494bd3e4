package rules

import (
	"math"
	"slices"
)

// growing are the rows that trees are grown on: each number of the evidence as one of a few bins.
type growing struct {
	rows        [][]float64
	bins        [][]uint8   // by feature, by row
	limits      [][]float64 // by feature: bin k ends with it
	slope, bend []float64   // of the loss, by row
	columns     []int       // features that a tree may use
	seed        uint64
}

const (
	mostBins   = 48
	rounds     = 60
	copies     = 6 // forests that are grown with other samples, and averaged
	deep       = 3
	rate       = 0.1
	flatness   = 3.0 // draws the values of leaves to 0
	leastBend  = 1.0 // how much a leaf must rest on
	leastGain  = 1e-3
	rowShare   = 0.6
	columShare = 0.25
)

// exponential is e to the power of x. That of package math differs between processors in its last bits.
func exponential(x float64) float64 {
	x = max(-30, min(30, x))
	n := math.Floor(x)
	r, sum := x-n, 1.0
	for k := 18.0; k >= 1; k-- {
		sum = 1 + float64(float64(sum*r)/k)
	}
	for ; n > 0; n-- {
		sum = float64(sum * math.E)
	}
	for ; n < 0; n++ {
		sum = float64(sum / math.E)
	}
	return sum
}

func logistic(x float64) float64 { return 1 / (1 + exponential(-x)) }

// next gives a number from 0 to 1 that looks random.
func (g *growing) next() float64 {
	g.seed ^= g.seed << 13
	g.seed ^= g.seed >> 7
	g.seed ^= g.seed << 17
	return float64(g.seed>>11) / (1 << 53)
}

func newGrowing(rows [][]float64) *growing {
	g := &growing{rows: rows, slope: make([]float64, len(rows)), bend: make([]float64, len(rows)), seed: 88172645463325252}
	for f := range rows[0] {
		values := make([]float64, len(rows))
		for i := range rows {
			values[i] = rows[i][f]
		}
		unique := slices.Compact(slices.Sorted(slices.Values(values)))
		var limits []float64
		for k := 1; k < len(unique) && len(unique) <= mostBins; k++ {
			limits = append(limits, float64(float32((unique[k-1]+unique[k])/2)))
		}
		for k := 1; k < mostBins && len(unique) > mostBins; k++ {
			limits = append(limits, unique[k*len(unique)/mostBins])
		}
		bins := make([]uint8, len(rows))
		for i, v := range values {
			at, _ := slices.BinarySearch(limits, v)
			bins[i] = uint8(at)
		}
		g.bins, g.limits = append(g.bins, bins), append(g.limits, limits)
	}
	return g
}

// grow makes a forest that tells rows of truth 1 from those of 0.
func grow(rows [][]float64, truths, weights []float64) forest {
	g := newGrowing(rows)
	var f forest
	right, all := 0.0, 0.0
	for i, w := range weights {
		right += float64(truths[i] * w)
		all += w
	}
	f.base = float64(float32(logit(right / all)))
	for range copies {
		scores := slices.Repeat([]float64{f.base}, len(rows))
		for range rounds {
			var sample []int
			for i := range rows {
				p := logistic(scores[i])
				g.slope[i], g.bend[i] = float64(weights[i]*(truths[i]-p)), float64(weights[i]*float64(p*(1-p)))
				if g.next() < rowShare {
					sample = append(sample, i)
				}
			}
			g.columns = g.columns[:0]
			for c := range g.bins {
				if g.next() < columShare {
					g.columns = append(g.columns, c)
				}
			}
			t := forest{roots: []int{0}}
			g.split(&t, sample, deep)
			for i, row := range rows {
				scores[i] += t.score(row)
			}
			f.roots = append(f.roots, len(f.nodes))
			for _, n := range t.nodes {
				if n.feature < 0 {
					n.value = float64(float32(n.value / copies))
				}
				f.nodes = append(f.nodes, n)
			}
		}
	}
	return f
}

// logit is the x of which logistic gives p.
func logit(p float64) float64 {
	low, high := -30.0, 30.0
	for range 60 {
		if middle := (low + high) / 2; logistic(middle) < p {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}

// split adds the node of some rows to a tree, and those below it.
func (g *growing) split(t *forest, rows []int, depth int) {
	at := len(t.nodes)
	slope, bend := 0.0, 0.0
	for _, i := range rows {
		slope += g.slope[i]
		bend += g.bend[i]
	}
	t.nodes = append(t.nodes, node{feature: -1, value: float64(rate*slope) / (bend + flatness)})
	if depth == 0 {
		return
	}
	feature, bin := g.best(rows, slope, bend)
	if feature < 0 {
		return
	}
	var left, right []int
	for _, i := range rows {
		if int(g.bins[feature][i]) <= bin {
			left = append(left, i)
		} else {
			right = append(right, i)
		}
	}
	g.split(t, left, depth-1)
	t.nodes[at] = node{feature: feature, value: g.limits[feature][bin], right: len(t.nodes) - at}
	g.split(t, right, depth-1)
}

// best finds where rows are parted best; -1 if it does not pay.
func (g *growing) best(rows []int, slope, bend float64) (feature, bin int) {
	feature = -1
	worth := func(s, b float64) float64 { return float64(s*s) / (b + flatness) }
	most := worth(slope, bend) + leastGain
	for _, f := range g.columns {
		var slopes, bends [mostBins + 1]float64
		for _, i := range rows {
			k := g.bins[f][i]
			slopes[k] += g.slope[i]
			bends[k] += g.bend[i]
		}
		s, b := 0.0, 0.0
		for k := range g.limits[f] {
			s += slopes[k]
			b += bends[k]
			if b < leastBend || bend-b < leastBend {
				continue
			}
			if sum := worth(s, b) + worth(slope-s, bend-b); sum > most {
				most, feature, bin = sum, f, k
			}
		}
	}
	return feature, bin
}
