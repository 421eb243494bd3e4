package metric

import (
	"context"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
)

// ContentType is that of what Write gives.
const ContentType = "text/plain; version=0.0.4; charset=utf-8"

// Sample is a value that is read when it is written, as a gauge, or as a counter if its name ends in _total.
type Sample struct {
	Name, Help string
	Labels     [][2]string // names and values
	Value      float64
}

// Reader reads samples. It heeds its context; what it can't read, it leaves out.
type Reader func(ctx context.Context) []Sample

// Read has a reader asked each time that metrics are written.
func (r *Registry) Read(of Reader) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.readers = append(r.readers, of)
}

// Write gives all metrics as text.
func (r *Registry) Write(ctx context.Context) []byte {
	r.mu.Lock()
	families, readers := slices.Clone(r.families), slices.Clone(r.readers)
	r.mu.Unlock()
	var t text
	for _, f := range families {
		f.write(&t)
	}
	for _, read := range readers {
		for _, s := range read(ctx) {
			kind := "gauge"
			if strings.HasSuffix(s.Name, "_total") {
				kind = "counter"
			}
			t.head(s.Name, s.Help, kind)
			t.line(s.Name, s.Labels, s.Value)
		}
	}
	return t.b
}

// What is escaped.
var (
	inHelp  = strings.NewReplacer("\\", `\\`, "\n", `\n`)
	inValue = strings.NewReplacer("\\", `\\`, "\n", `\n`, `"`, `\"`)
)

// text is what is written so far.
type text struct{ b []byte }

func (t *text) head(name, help, kind string) {
	t.b = append(t.b, "# HELP "+name+" "+inHelp.Replace(help)+"\n# TYPE "+name+" "+kind+"\n"...)
}

func (t *text) line(name string, labels [][2]string, value float64) {
	t.b = append(t.b, name...)
	for i, l := range labels {
		t.b = append(t.b, "{,"[min(i, 1)])
		t.b = append(append(t.b, l[0]...), `="`...)
		t.b = append(append(t.b, inValue.Replace(strings.ToValidUTF8(l[1], "\uFFFD"))...), '"')
	}
	if len(labels) > 0 {
		t.b = append(t.b, '}')
	}
	t.b = append(append(t.b, ' '), number(value)...)
	t.b = append(t.b, '\n')
}

// number writes infinity as +Inf, as strconv does.
func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// each gives the series of a metric by the values of their labels.
func each[S any](v *vector[S], do func(labels [][2]string, of *S)) {
	v.mu.RLock()
	keys := make([]values, 0, len(v.series))
	for k := range v.series {
		keys = append(keys, k)
	}
	v.mu.RUnlock()
	slices.SortFunc(keys, func(a, b values) int { return slices.Compare(a[:], b[:]) })
	for _, k := range keys {
		labels := make([][2]string, 0, len(v.labels)+1)
		for i, name := range v.labels {
			labels = append(labels, [2]string{name, k[i]})
		}
		do(labels, v.at(k[:]))
	}
}

func (c *Counter) write(t *text) {
	t.head(c.name, c.help, "counter")
	each(&c.vector, func(labels [][2]string, n *atomic.Uint64) { t.line(c.name, labels, float64(n.Load())) })
}

func (g *Gauge) write(t *text) {
	t.head(g.name, g.help, "gauge")
	each(&g.vector, func(labels [][2]string, n *atomic.Int64) { t.line(g.name, labels, float64(n.Load())) })
}

func (h *Histogram) write(t *text) {
	t.head(h.name, h.help, "histogram")
	each(&h.vector, func(labels [][2]string, d *distribution) {
		var below uint64
		for i := range d.counts {
			bound := math.Inf(1)
			if i < len(h.bounds) {
				bound = h.bounds[i]
			}
			below += d.counts[i].Load()
			t.line(h.name+"_bucket", append(labels, [2]string{"le", number(bound)}), float64(below))
		}
		t.line(h.name+"_sum", labels, math.Float64frombits(d.sum.Load()))
		t.line(h.name+"_count", labels, float64(below))
	})
}
