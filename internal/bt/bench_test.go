package bt

import (
	"strings"
	"testing"
)

// wideTree is a sequence of n fallbacks over inverters: control nodes and the cheapest leaves, every one ticked each time.
func wideTree(tb testing.TB, n int) *Tree {
	tb.Helper()
	b := &strings.Builder{}
	b.WriteString(`<root BTCPP_format="4"><BehaviorTree ID="Wide"><Sequence>`)
	for range n {
		b.WriteString(`<Fallback><Inverter><AlwaysSuccess/></Inverter><ForceSuccess><AlwaysFailure/></ForceSuccess></Fallback>`)
	}
	b.WriteString(`</Sequence></BehaviorTree></root>`)
	reg, err := NewRegistry()
	if err != nil {
		tb.Fatal(err)
	}
	tree, err := reg.Load("wide.xml", []byte(b.String()), Options{})
	if err != nil {
		tb.Fatal(err)
	}
	return tree
}

func BenchmarkTickControlNodes(b *testing.B) {
	tree := wideTree(b, 200)
	s := tree.NewState()
	b.ReportAllocs()
	visits := 0
	for b.Loop() {
		res, err := tree.Tick(s, Input{Now: 1}, nil)
		if err != nil || res.Status != Success {
			b.Fatal(res.Status, err)
		}
		visits += res.Visits
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(visits), "ns/node")
}

func TestTickOfControlNodesDoesNotAllocate(t *testing.T) {
	tree := wideTree(t, 50)
	s := tree.NewState()
	allocs := testing.AllocsPerRun(100, func() {
		if _, err := tree.Tick(s, Input{Now: 1}, nil); err != nil {
			t.Fatal(err)
		}
	})
	if allocs != 0 {
		t.Errorf("a tick of control nodes allocates %v times", allocs)
	}
}
