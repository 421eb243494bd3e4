// Package metric counts and times what a process does, and writes it in the text format of Prometheus, version 0.0.4.
//
// Guarantees:
//   - A metric has a bounded number of series, whatever values its labels are given: beyond MostSeries, and for a value of more than
//     MostValue bytes, the value is Other.
//   - Counting takes no lock that writing holds for long, and allocates nothing once a series is there. All of it is safe for
//     concurrent use.
//   - What is written is in the same order each time: metrics as they were made, their series by the values of their labels.
//
// It knows counters, gauges and histograms of fixed buckets; what it lacks of Prometheus' client, nothing here uses.
package metric

import (
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// The bounds of a metric.
const (
	MostSeries = 500
	MostValue  = 128 // bytes of the value of a label
	mostLabels = 3
)

// Other is what stands for values beyond the bounds.
const Other = "other"

// Registry holds the metrics of a process. Its zero value is ready.
type Registry struct {
	mu       sync.Mutex
	families []family
	readers  []Reader
}

// family is a metric with all its series.
type family interface{ write(t *text) }

func (r *Registry) add(f family) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.families = append(r.families, f)
}

// values are those of the labels of a series, in their order.
type values [mostLabels]string

// vector is the series of a metric.
type vector[S any] struct {
	name, help string
	labels     []string
	fresh      func() *S
	mu         sync.RWMutex
	series     map[values]*S
}

// begin names a metric. The series of one without labels is there at once.
func (v *vector[S]) begin(name, help string, labels []string, fresh func() *S) {
	if len(labels) > mostLabels {
		panic("metric " + name + " has too many labels")
	}
	v.name, v.help, v.labels, v.fresh, v.series = name, help, labels, fresh, map[values]*S{}
	if len(labels) == 0 {
		v.series[values{}] = fresh()
	}
}

// at is the series of these values.
func (v *vector[S]) at(given []string) *S {
	var key values
	for i := range v.labels {
		if key[i] = given[i]; len(given[i]) > MostValue {
			key[i] = Other
		}
	}
	v.mu.RLock()
	s := v.series[key]
	v.mu.RUnlock()
	if s == nil {
		s = v.make(key)
	}
	return s
}

func (v *vector[S]) make(key values) *S {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.series[key] == nil && len(v.series) >= MostSeries {
		for i := range v.labels {
			key[i] = Other
		}
	}
	if v.series[key] == nil {
		v.series[key] = v.fresh()
	}
	return v.series[key]
}

// Counter only grows.
type Counter struct{ vector[atomic.Uint64] }

// Counter makes a counter, whose name ends in _total. Its labels are at most three.
func (r *Registry) Counter(name, help string, labels ...string) *Counter {
	c := &Counter{}
	c.begin(name, help, labels, func() *atomic.Uint64 { return &atomic.Uint64{} })
	r.add(c)
	return c
}

// Add counts n more of these values, one for each label.
func (c *Counter) Add(n uint64, of ...string) { c.at(of).Add(n) }

// Gauge goes up and down.
type Gauge struct{ vector[atomic.Int64] }

// Gauge makes a gauge. Its labels are at most three.
func (r *Registry) Gauge(name, help string, labels ...string) *Gauge {
	g := &Gauge{}
	g.begin(name, help, labels, func() *atomic.Int64 { return &atomic.Int64{} })
	r.add(g)
	return g
}

// Add counts n more, or less, of these values, one for each label.
func (g *Gauge) Add(n int64, of ...string) { g.at(of).Add(n) }

// Histogram sorts values into buckets.
type Histogram struct {
	vector[distribution]
	bounds []float64
}

// distribution is how many values fell between one bound and the next.
type distribution struct {
	counts []atomic.Uint64 // one more than there are bounds
	sum    atomic.Uint64   // the bits of a float64
}

// Histogram makes a histogram of buckets that reach up to these bounds, which ascend. Its labels are at most three.
func (r *Registry) Histogram(name, help string, bounds []float64, labels ...string) *Histogram {
	h := &Histogram{bounds: slices.Clone(bounds)}
	h.begin(name, help, labels, func() *distribution { return &distribution{counts: make([]atomic.Uint64, len(bounds)+1)} })
	r.add(h)
	return h
}

// Observe sorts in how long something of these values took, one for each label. The metric's unit is the second.
func (h *Histogram) Observe(took time.Duration, of ...string) {
	d, v := h.at(of), took.Seconds()
	i, _ := slices.BinarySearch(h.bounds, v) // a value that is a bound belongs below it
	d.counts[i].Add(1)
	for {
		before := d.sum.Load()
		if d.sum.CompareAndSwap(before, math.Float64bits(math.Float64frombits(before)+v)) {
			return
		}
	}
}
