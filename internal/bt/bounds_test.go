package bt

import (
	"fmt"
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
)

func TestNestingIsBounded(t *testing.T) {
	nested := func(depth int, inner string) string {
		return strings.Repeat("<Inverter>", depth) + inner + strings.Repeat("</Inverter>", depth)
	}
	r := someLeaves(t)
	for name, text := range map[string]string{
		"elements": file(nested(maxDepth, "<AlwaysSuccess/>")),
		"subtrees": file(nested(150, `<SubTree ID="A"/>`), `<BehaviorTree ID="A">`+nested(150, "<AlwaysSuccess/>")+
			`</BehaviorTree>`),
	} {
		got := problems(t, r, text, Options{})
		assert.That(t, len(got) == 1 && strings.Contains(got[0], "nested deeper than 200"), "%s: %q", name, got)
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
	assert.That(t, len(got) == 1 && strings.Contains(got[0], "the tree has more than 262144 nodes, subtrees included"),
		"problems: %q", got)
}
