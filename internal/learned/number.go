package learned

import "math"

// bucket is the number below 1<<size that a name is hashed to: FNV-1a, mixed so that its low bits depend on all others.
func bucket(name string, size int) uint32 {
	h := uint64(14695981039346656037)
	for i := range len(name) {
		h = (h ^ uint64(name[i])) * 1099511628211
	}
	return uint32(mix(h) & (1<<size - 1))
}

// mix spreads the bits of a number over all of it.
func mix(x uint64) uint64 {
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}

// shuffler gives numbers that look random, the same for the same seed.
type shuffler struct{ state uint64 }

func (s *shuffler) below(n int) int {
	s.state += 0x9e3779b97f4a7c15
	return int(mix(s.state) % uint64(n))
}

func (s *shuffler) shuffle(order []int) {
	for i := len(order) - 1; i > 0; i-- {
		j := s.below(i + 1)
		order[i], order[j] = order[j], order[i]
	}
}

// exp is e to the power of x for x of at most 0. That of package math differs in its last bits between processors.
func exp(x float64) float64 {
	if !(x > -700) {
		return 0
	}
	const ln2High, ln2Low = 6.93147180369123816490e-01, 1.90821492927058770002e-10
	k := math.Floor(float64(x*(1/math.Ln2)) + 0.5)
	r := x - float64(k*ln2High)
	r -= float64(k * ln2Low)
	sum := 1.0
	for n := 13.0; n >= 1; n-- {
		sum = 1 + float64(float64(sum*r)/n)
	}
	return math.Ldexp(sum, int(k))
}

// softmax makes probabilities of scores.
func softmax(scores []float64, temperature float64) []float64 {
	top := scores[0]
	for _, s := range scores {
		top = max(top, s)
	}
	p := make([]float64, len(scores))
	sum := 0.0
	for i, s := range scores {
		p[i] = exp((s - top) / temperature)
		sum += p[i]
	}
	for i := range p {
		p[i] /= sum
	}
	return p
}
