package metric_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"sibyl/internal/telemetry/metric"
)

// bounds are some that no value here is, and one that a value is.
var bounds = []float64{0.001, 0.25, 1, 60}

func TestTextIsThatOfPrometheusOwnClient(t *testing.T) {
	awkward := []string{"plain", "", `a "quote", a \ and` + "\na line", "übung €", "{a=\"b\"} 1"}
	times := []time.Duration{0, time.Millisecond, time.Second, 1100 * time.Millisecond, time.Hour}

	var r metric.Registry
	theirs := prometheus.NewRegistry()
	counter := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "a_total", Help: "Counts a \\ and\na line."}, []string{"x", "y"})
	gauge := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "b", Help: "Goes \"up\"."}, []string{"x"})
	histogram := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "c_seconds", Help: "Times.", Buckets: bounds}, []string{"x"})
	bare := prometheus.NewHistogram(prometheus.HistogramOpts{Name: "d_seconds", Help: "Times without labels.", Buckets: bounds})
	read := prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "e", Help: "Is read.", ConstLabels: prometheus.Labels{"k": "v"}}, func() float64 { return 1.5e9 })
	theirs.MustRegister(counter, gauge, histogram, bare, read)
	a, b := r.Counter("a_total", "Counts a \\ and\na line.", "x", "y"), r.Gauge("b", "Goes \"up\".", "x")
	c := r.Histogram("c_seconds", "Times.", bounds, "x")
	r.Histogram("d_seconds", "Times without labels.", bounds)
	r.Read(func(context.Context) []metric.Sample {
		return []metric.Sample{{Name: "e", Help: "Is read.", Labels: [][2]string{{"k", "v"}}, Value: 1.5e9}}
	})

	for i, value := range awkward {
		counter.WithLabelValues(value, "z").Add(float64(i) * 1e6)
		a.Add(uint64(i)*1e6, value, "z")
		gauge.WithLabelValues(value).Add(float64(2 - i))
		b.Add(int64(2-i), value)
		for _, took := range times {
			histogram.WithLabelValues(value).Observe(took.Seconds())
			c.Observe(took, value)
		}
	}
	families, err := theirs.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var want bytes.Buffer
	for _, f := range families {
		if _, err := expfmt.MetricFamilyToText(&want, f); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(want.String(), string(r.Write(t.Context()))); diff != "" {
		t.Error(diff)
	}
}

// parse reads what a registry writes, as Prometheus does.
func parse(t *testing.T, r *metric.Registry) map[string]map[string]float64 {
	t.Helper()
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(r.Write(t.Context())))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]map[string]float64{}
	for name, f := range families {
		all[name] = map[string]float64{}
		for _, m := range f.GetMetric() {
			var of []string
			for _, l := range m.GetLabel() {
				of = append(of, l.GetValue())
			}
			all[name][strings.Join(of, " ")] = m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	return all
}

func TestSeriesBeyondTheBoundAreOther(t *testing.T) {
	var r metric.Registry
	c := r.Counter("a_total", "Counts.", "x", "y")
	for i := range 3 * metric.MostSeries {
		c.Add(1, fmt.Sprint(i), "y")
	}
	c.Add(1, "0", "y")
	all := parse(t, &r)["a_total"]
	if len(all) != metric.MostSeries+1 || all["other other"] != 2*metric.MostSeries || all["0 y"] != 2 {
		t.Errorf("%d series, %v others, %v of one that was there", len(all), all["other other"], all["0 y"])
	}
}

func TestValueOfALabelThatIsTooLongIsOther(t *testing.T) {
	var r metric.Registry
	c := r.Counter("a_total", "Counts.", "x", "y")
	c.Add(1, strings.Repeat("x", metric.MostValue), strings.Repeat("y", metric.MostValue+1))
	if diff := cmp.Diff(map[string]float64{strings.Repeat("x", metric.MostValue) + " other": 1}, parse(t, &r)["a_total"]); diff != "" {
		t.Error(diff)
	}
}

func TestTextThatIsNoneIsWrittenAsText(t *testing.T) {
	var r metric.Registry
	r.Counter("a_total", "Counts.", "x").Add(1, "a\xffb")
	if diff := cmp.Diff(map[string]float64{"a\uFFFDb": 1}, parse(t, &r)["a_total"]); diff != "" {
		t.Error(diff)
	}
}

func TestNothingIsLostOfWhatManyCountAtOnce(t *testing.T) {
	const many, each = 8, 1000
	var r metric.Registry
	c, g, h := r.Counter("a_total", "Counts.", "x"), r.Gauge("b", "Goes up.", "x"), r.Histogram("c_seconds", "Times.", bounds, "x")
	var all sync.WaitGroup
	for range many {
		all.Go(func() {
			for i := range each {
				of := fmt.Sprint(i % 10)
				c.Add(1, of)
				g.Add(1, of)
				h.Observe(time.Second, of)
				if i%100 == 0 {
					r.Write(t.Context())
				}
			}
		})
	}
	all.Wait()
	for name, series := range parse(t, &r) {
		if len(series) != 10 {
			t.Errorf("%s has %d series", name, len(series))
		}
		for of, n := range series {
			if n != many*each/10 {
				t.Errorf("%s of %s is %v", name, of, n)
			}
		}
	}
	if text := string(r.Write(t.Context())); !strings.Contains(text, "c_seconds_sum{x=\"3\"} 800\n") {
		t.Errorf("the sum is another in\n%s", text)
	}
}

func TestCountingAllocatesNothing(t *testing.T) {
	var r metric.Registry
	c, h := r.Counter("a_total", "Counts.", "x", "y", "z"), r.Histogram("c_seconds", "Times.", bounds, "x")
	allocs := testing.AllocsPerRun(100, func() {
		c.Add(1, "a", "b", "c")
		h.Observe(time.Second, "a")
	})
	if allocs > 0 {
		t.Errorf("%.0f allocations", allocs)
	}
}
