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

func TestSettingsStandWhereTheirValuesAre(t *testing.T) {
	type in struct {
		Most  int     `port:"most" default:"3" between:"1 9" doc:"how many"`
		Part  float64 `port:"part" default:"0.5"`
		How   string  `port:"how" default:"red" oneof:"red green"`
		Words string  `port:"words,optional"`
		Turns int     `port:"turns"`
	}
	r := assert.Must(NewLeaves(Func("Paint", "", func(in, *struct{}) error { return nil })))(t)
	text := "\ufeff" + `<root BTCPP_format="4"><!-- ü --><BehaviorTree ID="Main"><Sequence><Paint most="4" turns="{turns}" how='green'/>
	<SubTree ID="Twice" turns="{turns}"/><SubTree ID="Twice" turns="{turns}"/></Sequence></BehaviorTree>
	<BehaviorTree ID="Twice"><Paint turns="{turns}" words="x"/></BehaviorTree></root>`
	tree := assert.Must(r.Load("t.xml", []byte(text), Options{Main: "Main",
		Given: []Port{{Name: "turns", Type: typeInt}}}))(t)
	var got []string
	for _, s := range tree.Settings() {
		got = append(got, fmt.Sprintf("%s=%s%s %v at %q absent %t",
			s.Port, s.Value, s.Key, s.OneOf, text[s.From:s.To], s.Absent))
		assert.That(t, !s.Absent || strings.HasSuffix(text[:s.From], "<Paint"),
			"%s would be put in behind %q", s.Port, text[:s.From])
	}
	want := []string{
		`most=4 [] at "4" absent false`, `part=0.5 [] at "" absent true`,
		`how=green [red green] at "green" absent false`, `turns=turns [] at "{turns}" absent false`,
		`most=3 [] at "" absent true`, `part=0.5 [] at "" absent true`, `how=red [red green] at "" absent true`,
		`turns=turns [] at "{turns}" absent false`,
	}
	assert.That(t, strings.Join(got, "\n") == strings.Join(want, "\n"),
		"settings:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
}
