package bt

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sibyl/internal/behaviour/assert"
)

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
