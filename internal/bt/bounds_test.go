package bt

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestNestingIsBounded(t *testing.T) {
	nested := func(depth int, inner string) string {
		return strings.Repeat("<Inverter>", depth) + inner + strings.Repeat("</Inverter>", depth)
	}
	r := someLeaves(t)
	for name, text := range map[string]string{
		"elements": file(nested(maxDepth, "<AlwaysSuccess/>")),
		"subtrees": file(nested(150, `<SubTree ID="A"/>`), `<BehaviorTree ID="A">`+nested(150, "<AlwaysSuccess/>")+`</BehaviorTree>`),
	} {
		got := problems(t, r, text, Options{})
		if len(got) != 1 || !strings.Contains(got[0], "nested deeper than 200") {
			t.Errorf("%s: %q", name, got)
		}
	}
	load(t, r, file(nested(maxDepth-3, "<AlwaysSuccess/>")), Options{})
}

func TestSubtreesThatDoubleAreBounded(t *testing.T) {
	b := &strings.Builder{}
	b.WriteString(`<root BTCPP_format="4" main_tree_to_execute="T0">`)
	for i := range 40 {
		fmt.Fprintf(b, `<BehaviorTree ID="T%d"><Sequence><SubTree ID="T%d"/><SubTree ID="T%d"/></Sequence></BehaviorTree>`, i, i+1, i+1)
	}
	b.WriteString(`<BehaviorTree ID="T40"><AlwaysSuccess/></BehaviorTree></root>`)
	got := problems(t, someLeaves(t), b.String(), Options{})
	if len(got) != 1 || !strings.Contains(got[0], "the tree has more than 262144 nodes, subtrees included") {
		t.Errorf("problems: %q", got)
	}
}

// TestLargeTreeLoadsInLinearTime compares two sizes, so that it holds on any machine: a place that is counted from the start
// of the file would make ten times the nodes cost a hundred times the time, in every try. One try may meet a busy machine.
func TestLargeTreeLoadsInLinearTime(t *testing.T) {
	r := someLeaves(t)
	measure := func(nodes int, sep string) time.Duration {
		b := &strings.Builder{}
		b.WriteString("<Parallel><Sequence>")
		for i := range nodes {
			fmt.Fprintf(b, `%s<Emit text="{k%d}" _skipIf="false"/>`, sep, i)
		}
		b.WriteString("</Sequence></Parallel>")
		text := file(b.String())
		begin := time.Now()
		load(t, r, text, Options{})
		return time.Since(begin)
	}
	for _, sep := range []string{"", "\n"} {
		small, large := time.Hour, time.Hour
		for try := 0; try < 3 || try < 20 && large > 50*max(small, time.Millisecond); try++ {
			small, large = min(small, measure(1_000, sep)), min(large, measure(10_000, sep))
		}
		if large > 50*max(small, time.Millisecond) {
			t.Errorf("1,000 nodes load in %v, 10,000 in %v", small, large)
		}
	}
}
