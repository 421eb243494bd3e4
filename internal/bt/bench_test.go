package bt

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// wideTree is a sequence of n fallbacks over inverters: control nodes and the cheapest leaves, every one ticked each
// time.
func wideTree(tb testing.TB, n int) *Tree {
	tb.Helper()
	b := &strings.Builder{}
	b.WriteString(`<root BTCPP_format="4"><BehaviorTree ID="Wide"><Sequence>`)
	for range n {
		b.WriteString(`<Fallback><Inverter><AlwaysSuccess/></Inverter><ForceSuccess><AlwaysFailure/></ForceSuccess></Fallback>`)
	}
	b.WriteString(`</Sequence></BehaviorTree></root>`)
	known, err := NewLeaves()
	if err != nil {
		tb.Fatal(err)
	}
	tree, err := known.Load("wide.xml", []byte(b.String()), Options{})
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

// countTree is one func with two inputs and two outputs.
func countTree(tb testing.TB) (*Tree, *State) {
	tb.Helper()
	count := Func("Count", "", func(in struct {
		By   int    `port:"by"`
		Word string `port:"word"`
	}, out *struct {
		N    int    `port:"n"`
		Last string `port:"last"`
	}) error {
		out.N += in.By
		out.Last = in.Word
		return nil
	})
	tree := load(tb, registry(tb, count), file(`<Count by="{by}" word="w" n="{n}" last="{last}"/>`),
		Options{Given: []Port{{Name: "by", Type: typeInt}}})
	s := tree.NewState()
	set(tb, tree, s, "by", 1000)
	return tree, s
}

func BenchmarkStepFuncLeaf(b *testing.B) {
	tree, s := countTree(b)
	b.ReportAllocs()
	for b.Loop() {
		if res := step(b, tree, s, Input{}); res.Status != Success {
			b.Fatal(res.Status)
		}
	}
}

// BenchmarkStepTask asks for an effect and completes it: two steps a round.
func BenchmarkStepTask(b *testing.B) {
	tree := load(b, someLeaves(b), file(`<Ask question="why?" answer="{answer}"/>`), Options{})
	s := tree.NewState()
	b.ReportAllocs()
	for b.Loop() {
		asked := step(b, tree, s, Input{})
		done := Completion{Op: asked.Start[0].Op, Result: json.RawMessage(`"because"`)}
		if res := step(b, tree, s, Input{Done: []Completion{done}}); res.Status != Success {
			b.Fatal(res.Status)
		}
	}
}

func BenchmarkLoad(b *testing.B) {
	text := &strings.Builder{}
	text.WriteString("<Sequence>")
	for i := range 5_000 {
		fmt.Fprintf(text, "\n<Emit text=\"{k%d}\"/><Need text=\"{k%d}\" _skipIf=\"k%d == 'x'\"/>", i, i, i)
	}
	text.WriteString("</Sequence>")
	r, source := someLeaves(b), file(text.String())
	b.ReportAllocs()
	nodes := 0
	for b.Loop() {
		nodes += load(b, r, source, Options{}).Size()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(nodes), "ns/node")
}
