package bt

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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

// tree is one <BehaviorTree>.
func tree(id, body string) string {
	return `<BehaviorTree ID="` + id + `">` + body + `</BehaviorTree>`
}

// wrote runs a file and lists what was written, in order, as "path key=value".
func wrote(t *testing.T, r *Leaves, text string, opt Options) []string {
	t.Helper()
	tr := load(t, r, text, opt)
	var all []string
	assert.Must(tr.Step(tr.NewState(), Input{}, func(e Event) {
		if e.Kind == Wrote {
			all = append(all, fmt.Sprintf("%s %s=%v", tr.Path(e.Node), e.Key, e.Value))
		}
	}))(t)
	return all
}

func TestEverySubtreeInstanceHasItsOwnKeys(t *testing.T) {
	text := file(`<Sequence><SubTree ID="A" out="{a}" step="2"/><SubTree ID="A" out="{b}" step="3"/><SubTree ID="A" out="{a}" step="5"/></Sequence>`,
		tree("A", `<Sequence><Script code="n := 10; out := n + step"/></Sequence>`))
	tr := load(t, someLeaves(t), text, Options{})
	s := tr.NewState()
	step(t, tr, s, Input{})
	a, _ := tr.Get(s, "a")
	b, _ := tr.Get(s, "b")
	assert.That(t, a == 15.0 && b == 13.0, "a = %v, b = %v", a, b)
}

func TestSubtreeLiteralTakesTheTypeOfItsReaders(t *testing.T) {
	var got values
	r := registry(t, useLeaf(func(v values) { got = v }))
	tr := load(t, r, file(`<SubTree ID="A" i="3" f="3" s="3" l="a;b" th='{"name":"n"}' bo="true"/>`,
		tree("A", `<Use int="{i}" float="{f}" text="{s}" list="{l}" thing="{th}" bool="{bo}"/>`)), Options{})
	s := tr.NewState()
	step(t, tr, s, Input{})
	want := values{Int: 3, Float: 3, Text: "3", List: []string{"a", "b"}, Thing: thing{Name: "n"}, Bool: true}
	assert.Same(t, want, got)
}

func TestSubtreeLiteralWithoutTypedReaderReadsAsScriptsDo(t *testing.T) {
	tr := load(t, someLeaves(t), file(`<SubTree ID="A" yes="true" no="false" n="2" s="two"/>`,
		tree("A", `<ScriptCondition code="yes &amp;&amp; !no &amp;&amp; n + 1 == 3 &amp;&amp; s .. '!' == 'two!'"/>`)),
		Options{})
	res := step(t, tr, tr.NewState(), Input{})
	assert.That(t, res.Status == Success, "%+v", res.Fault)
}

func TestGivenKeyKeepsItsTypeAndWantedKeyIsReadable(t *testing.T) {
	opt := Options{Given: []Port{{Name: "n", Type: typeInt}},
		Wanted: []Port{{Name: "sum", Type: reflect.TypeFor[float64]()}}}
	tr := load(t, someLeaves(t), file(`<Script code="sum := n + 0.5; n := n * 2"/>`), opt)
	assert.That(t, len(tr.Warnings) == 0, "a wanted key counts as read: %v", tr.Warnings)
	s := tr.NewState()
	set(t, tr, s, "n", 2)
	step(t, tr, s, Input{})
	n, _ := tr.Get(s, "n")
	sum, _ := tr.Get(s, "sum")
	assert.That(t, n == 4 && sum == 2.5, "n = %#v, sum = %#v", n, sum)
}

func TestOutputsAreWrittenOnSuccessAndFailure(t *testing.T) {
	type out struct {
		A string `port:"a"`
		B int    `port:"b"`
	}
	leaf := func(name string, err error) Leaf {
		return Func(name, "", func(_ noPorts, o *out) error {
			o.A += "+"
			return err
		})
	}
	r := registry(t, leaf("Good", nil), leaf("Bad", fmt.Errorf("no luck")))
	got := wrote(t, r, file(`<Sequence><Inverter><Bad a="{x}" b="{y}"/></Inverter><Good a="{x}" b="{y}"/></Sequence>`),
		Options{})
	want := []string{"Main/Inverter/Bad x=+", "Main/Good x=++", "Main/Good y=0"}
	assert.NoDiff(t, cmp.Diff(want, got), "a zero field is not written on FAILURE to a key that is unset (-want +got)")
}

func TestAnOutputStartsAsWhatItsKeyHolds(t *testing.T) {
	type out struct {
		List []string `port:"list"`
	}
	add := Func("Add", "", func(in struct {
		Word string `port:"word"`
	}, o *out) error {
		o.List = append(o.List[:len(o.List):len(o.List)], in.Word)
		return nil
	})
	tr := load(t, registry(t, add), file(`<Sequence><Add word="a" list="{l}"/><Add word="b" list="{l}"/></Sequence>`),
		Options{})
	s := tr.NewState()
	step(t, tr, s, Input{})
	got, _ := tr.Get(s, "l")
	assert.That(t, reflect.DeepEqual(got, []string{"a", "b"}), "l = %v", got)
}

func TestTimeoutHaltsWhatIsNotDoneInTime(t *testing.T) {
	d := drive(t, file(`<Timeout msec="50"><Plan letters="a"/></Timeout>`), Options{})
	if res := d.step(Input{Now: 1000}); res.Status != Running || res.Due != 1050 {
		t.Errorf("%+v", res)
	}
	if res := d.step(Input{Now: 1049}); res.Status != Running || res.Due != 1050 || len(res.Cancel) > 0 {
		t.Errorf("%+v", res)
	}
	res := d.step(Input{Now: 1050, Done: []Completion{{Op: 1, Result: []byte("1")}}})
	want := &Fault{Kind: "timeout", Reason: "not done after 50 ms", Node: "Main"}
	assert.That(t, res.Status == Failure && res.Due == 0 && reflect.DeepEqual(res.Fault, want),
		"at the deadline itself the child is not asked: %+v %+v", res, res.Fault)
	res = d.step(Input{Now: 2000})
	assert.That(t, res.Due == 2050, "the next entry has a deadline of its own: %+v", res)
}

func TestTimeoutOfZeroIsNone(t *testing.T) {
	d := drive(t, file(`<Timeout msec="0"><Plan letters="a"/></Timeout>`), Options{})
	for _, now := range []int64{1, 1 << 40} {
		res := d.step(Input{Now: now})
		assert.That(t, res.Status == Running && res.Due == 0, "at %d: %+v", now, res)
	}
}

func TestDelayWaitsBeforeEveryEntry(t *testing.T) {
	d := drive(t, file(`<Delay delay_msec="{ms}"><Plan letters="a"/></Delay>`),
		Options{Given: []Port{{Name: "ms", Type: typeInt}}})
	set(t, d.tree, d.state, "ms", 20)
	for _, c := range []struct {
		now, due int64
		asked    string
	}{{0, 20, ""}, {19, 20, ""}, {20, 0, "1a"}, {25, 0, ""}} {
		res := d.step(Input{Now: c.now})
		assert.That(t, res.Status == Running && res.Due == c.due && requestedEffects(res) == c.asked,
			"at %d: %+v", c.now, res)
	}
	d.halt()
	res := d.step(Input{Now: 30})
	assert.That(t, res.Due == 50, "after a halt: %+v", res)
}

func TestDueIsTheEarliestTimerThatRuns(t *testing.T) {
	d := drive(t, file(`<Parallel><Timeout msec="70"><Plan letters="a"/></Timeout><Delay delay_msec="30"><Plan letters="b"/></Delay>
		<Sequence><Timeout msec="10"><AlwaysSuccess/></Timeout><Timeout msec="50"><Plan letters="c"/></Timeout></Sequence></Parallel>`), Options{})
	for _, c := range []struct{ now, due int64 }{{100, 130}, {130, 150}} {
		res := d.step(Input{Now: c.now})
		assert.That(t, res.Due == c.due, "at %d: due %d, want %d", c.now, res.Due, c.due)
	}
}

// A timer below a branch that is not ticked can't act; woken by it again and again, a runner would spin.
func TestTimerThatCannotActIsNotDue(t *testing.T) {
	d := drive(t, file(`<WhileDoElse><Plan letters="a"/><Timeout msec="50"><Plan letters="b"/></Timeout></WhileDoElse>`), Options{})
	d.step(Input{Now: 0})
	res := d.complete(1)
	assert.Require(t, res.Due == 50, "%+v", res)
	res = d.step(Input{Now: 10})
	assert.Require(t, res.Due == 50, "the condition is asked again, the branch goes on: %+v", res)
	if res := d.step(Input{Now: 50}); res.Status != Running || res.Due != 0 {
		t.Errorf("while the condition runs, the branch's timer can't act: %+v", res)
	}
}

func TestVeryLongTimesDoNotOverflow(t *testing.T) {
	given := Options{Given: []Port{{Name: "ms", Type: typeInt64}}}
	for _, node := range []string{
		`<Timeout msec="{ms}"><Plan letters="a"/></Timeout>`, `<Delay delay_msec="{ms}"><Plan letters="a"/></Delay>`,
	} {
		d := drive(t, file(node), given)
		set(t, d.tree, d.state, "ms", int64(math.MaxInt64))
		for _, now := range []int64{5, 1 << 50} {
			res := d.step(Input{Now: now})
			assert.That(t, res.Status == Running && res.Due == math.MaxInt64, "%s at %d: %+v", node, now, res)
		}
	}
}

func TestLeafReadsTheRunTimeOfItsInput(t *testing.T) {
	type in struct {
		Now int64 `port:",now"`
	}
	type out struct {
		At int64 `port:"at"`
	}
	stamp := Func("Stamp", "Writes the run time.", func(i in, o *out) error {
		o.At = i.Now
		return nil
	})
	tree := load(t, registry(t, stamp), file(`<Stamp at="{at}"/>`), Options{})
	s := tree.NewState()
	for _, now := range []int64{7, 7, 30, 12} {
		step(t, tree, s, Input{Now: now})
	}
	at, _ := tree.Get(s, "at")
	assert.That(t, at == int64(30), "the leaf wrote %v: run time never goes back", at)
}
