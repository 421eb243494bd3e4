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

// valuesRead loads and runs a tree whose Use node tells what it read.
func valuesRead(t *testing.T, node string, given ...any) values {
	t.Helper()
	var got values
	r := registry(t, useLeaf(func(v values) { got = v }), emitLeaf(&values{Text: "emitted"}))
	var opt Options
	for i := 0; i < len(given); i += 2 {
		opt.Given = append(opt.Given, Port{Name: given[i].(string), Type: reflect.TypeOf(given[i+1])})
	}
	tree := load(t, r, file(node), opt)
	s := tree.NewState()
	for i := 0; i < len(given); i += 2 {
		set(t, tree, s, given[i].(string), given[i+1])
	}
	step(t, tree, s, Input{})
	return got
}

func TestLiteralsBecomeTheirPortsType(t *testing.T) {
	for node, want := range map[string]values{
		`<Use/>`:                                    {},
		`<Use text=""/>`:                            {},
		`<Use text=" a b "/>`:                       {Text: " a b "},
		`<Use text="{}"/>`:                          {Text: "{}"},
		`<Use text="{a} and {b}"/>`:                 {Text: "{a} and {b}"},
		`<Use text="{a"/>`:                          {Text: "{a"},
		`<Use text="a}"/>`:                          {Text: "a}"},
		`<Use text="{{a}}"/>`:                       {Text: "{{a}}"},
		`<Use int="-3" float="1e3"/>`:               {Int: -3, Float: 1000},
		`<Use bool="TRUE"/>`:                        {Bool: true},
		`<Use bool="1"/>`:                           {Bool: true},
		`<Use bool="0"/>`:                           {},
		`<Use list=""/>`:                            {List: []string{}},
		`<Use list="a"/>`:                           {List: []string{"a"}},
		`<Use list="a;b c;;d"/>`:                    {List: []string{"a", "b c", "", "d"}},
		`<Use list='["a;b","c"]'/>`:                 {List: []string{"a;b", "c"}},
		`<Use thing='{"name":"n","parts":["p"]}'/>`: {Thing: thing{Name: "n", Parts: []string{"p"}}},
		`<Use thing=' {"name":"n"} '/>`:             {Thing: thing{Name: "n"}},
		`<Use thing="{}"/>`:                         {},
		`<Use ref="null"/>`:                         {},
		`<Use ref='{ "name":"n"}'/>`:                {Ref: &thing{Name: "n"}},
		`<Use text='{"name":"n"}'/>`:                {Text: `{"name":"n"}`},
	} {
		assert.NoDiff(t, cmp.Diff(want, valuesRead(t, node)), "%s (-want +got)", node)
	}
}

func TestDefaultHoldsWherePortOrKeyIsUnset(t *testing.T) {
	type in struct {
		Limit int      `port:"limit" default:"3"`
		Hint  string   `port:"hint,optional"`
		Brace string   `port:"brace" default:"{hint}"`
		Parts []string `port:"parts" default:"a;b"`
	}
	var got []in
	leaf := Func("See", "", func(i in, _ *noPorts) error { got = append(got, i); return nil })
	tree := load(t, registry(t, leaf), file(`<Sequence><See/><See limit="{n}" hint="{h}" parts="{p}"/></Sequence>`),
		Options{Given: []Port{{Name: "n"}, {Name: "h"}, {Name: "p", Type: reflect.TypeFor[[]string]()}}})
	s := tree.NewState()
	step(t, tree, s, Input{})
	set(t, tree, s, "n", 7)
	set(t, tree, s, "h", "try")
	set(t, tree, s, "p", []string(nil))
	step(t, tree, s, Input{})
	unset := in{Limit: 3, Brace: "{hint}", Parts: []string{"a", "b"}}
	want := []in{unset, unset, unset, {Limit: 7, Hint: "try", Brace: "{hint}"}}
	assert.Same(t, want, got)
}

func TestWholeNumbersAndDoublesFlowIntoEachOther(t *testing.T) {
	got := valuesRead(t, `<Use int="{x}" float="{x}"/>`, "x", 4.0)
	assert.That(t, got.Int == 4 && got.Float == 4, "a double of 4: %+v", got)
	got = valuesRead(t, `<Use int="{x}" float="{x}"/>`, "x", 5)
	assert.That(t, got.Int == 5 && got.Float == 5, "an int of 5: %+v", got)
	got = valuesRead(t, `<Sequence><Script code="n := 2 * x"/><Use int="{n}" float="{n}"/></Sequence>`, "x",
		5)
	assert.That(t, got.Int == 10 && got.Float == 10, "a script's 10: %+v", got)
}

func TestNamedTypesFlowWhereTheirKindFits(t *testing.T) {
	type level int64
	var got []string
	r := registry(t, useLeaf(func(v values) {
		got = append(got, fmt.Sprint(v.Text, v.Int, v.Bool))
	}), Func("Feel", "", func(_ noPorts, o *struct {
		Mood  mood  `port:"mood"`
		Level level `port:"level"`
	}) error {
		o.Mood, o.Level = "low", 3
		return nil
	}), needLeaf())
	tr := load(t, r, file(`<Sequence><Feel mood="{m}" level="{l}"/><Use text="{m}" int="{l}"/><ScriptCondition code="m == 'low' &amp;&amp; l + 1 == 4"/></Sequence>`), Options{})
	res := step(t, tr, tr.NewState(), Input{})
	assert.That(t, res.Status == Success, "%+v", res.Fault)
	assert.Same(t, []string{"low3 false"}, got)
	for _, port := range []string{`list="{m}"`, `bool="{m}"`, `int="{m}"`, `thing="{m}"`, `text="{l}"`, `bool="{l}"`} {
		got := problems(t, r, file(`<Sequence><Feel mood="{m}" level="{l}"/><Use `+port+`/></Sequence>`),
			Options{})
		assert.That(t, len(got) != 0 && strings.Contains(got[0], "holds"), "%s is taken: %q", port, got)
	}
}

func TestSetTakesOnlyWhatFitsTheKey(t *testing.T) {
	opt := Options{Given: []Port{{Name: "any"}, {Name: "mood", Type: reflect.TypeFor[mood]()}}}
	tree := load(t, someLeaves(t),
		file(`<Use text="{text}" int="{int}" float="{float}" bool="{bool}" list="{list}" thing="{thing}" ref="{ref}"
		_skipIf="any == mood"/>`), Options{Given: append(opt.Given, Port{Name: "text"}, Port{Name: "int"},
			Port{Name: "float"},
			Port{Name: "bool"}, Port{Name: "list"}, Port{Name: "thing"}, Port{Name: "ref"})})
	s := tree.NewState()
	for _, c := range []struct {
		key       string
		give, got any
	}{
		{"text", "a", "a"}, {"text", mood("low"), "low"}, {"mood", "high", mood("high")},
		{"int", 3, 3}, {"int", int64(3), 3}, {"int", 3.0, 3}, {"int", "3", 3},
		{"float", 3, 3.0}, {"float", 2.5, 2.5}, {"float", "2.5", 2.5},
		{"bool", true, true}, {"bool", "false", false},
		{"list", []string{"a"}, []string{"a"}}, {"list", "a;b", []string{"a", "b"}},
		{"list", []string(nil), []string(nil)},
		{"thing", thing{Name: "n"}, thing{Name: "n"}}, {"thing", `{"name":"n"}`, thing{Name: "n"}},
		{"ref", (*thing)(nil), (*thing)(nil)},
		{"any", 3, 3.0}, {"any", mood("low"), "low"}, {"any", true, true},
	} {
		set(t, tree, s, c.key, c.give)
		got, ok := tree.Get(s, c.key)
		assert.That(t, ok && reflect.DeepEqual(got, c.got), "%s = %#v is kept as %#v", c.key, c.give, got)
	}
	for _, c := range []struct {
		key  string
		give any
		want string
	}{
		{"int", 2.5, "key {int}: 2.5 does not fit int"},
		{"int", 1e300, "key {int}: 1e+300 does not fit int"},
		{"int", "x", "key {int}: ‘x’ is not a whole number"},
		{"int", nil, "key {int}: nothing does not fit int"},
		{"int", true, "key {int}: true does not fit int"},
		{"text", 1, "key {text}: 1 does not fit std::string"},
		{"float", math.NaN(), "key {float}: ‘NaN’ is not a finite number"},
		{"float", "inf", "key {float}: ‘inf’ is not a number"},
		{"bool", 1, "key {bool}: 1 does not fit bool"},
		{"list", []int{1}, "key {list}: [1] does not fit []string"},
		{"any", []string{"a"}, "key {any}: []string is not a text, number or bool"},
		{"any", nil, "key {any}: <nil> is not a text, number or bool"},
	} {
		before, _ := tree.Get(s, c.key)
		err := tree.Set(s, c.key, c.give)
		assert.That(t, err != nil && err.Error() == c.want, "Set(%s, %v): %v, want %s", c.key, c.give, err, c.want)
		after, _ := tree.Get(s, c.key)
		assert.That(t, reflect.DeepEqual(before, after), "a refused Set(%s, %v) leaves %v", c.key, c.give, after)
	}
}

func TestSetJSONTakesOnlyWhatFitsTheKey(t *testing.T) {
	tree := load(t, someLeaves(t), file(`<Use thing="{thing}" int="{int}" _skipIf="any"/>`),
		Options{Given: []Port{{Name: "thing"}, {Name: "int"}, {Name: "any"}}})
	s := tree.NewState()
	for key, c := range map[string]struct {
		raw  string
		want any
	}{"thing": {`{"name":"n","parts":["a"]}`, thing{Name: "n", Parts: []string{"a"}}}, "int": {`4`, 4},
		"any": {`"x"`, "x"}} {
		assert.Nil(t, tree.SetJSON(s, key, []byte(c.raw)))
		got, _ := tree.Get(s, key)
		assert.That(t, reflect.DeepEqual(got, c.want), "%s = %#v", key, got)
	}
	for key, raw := range map[string]string{"thing": `["a"]`, "int": `4.5`, "any": `{"a":1}`, "nobody": `1`} {
		assert.That(t, tree.SetJSON(s, key, []byte(raw)) != nil, "%s takes %s", key, raw)
	}
}

func TestPortDeclarationsAreChecked(t *testing.T) {
	for name, err := range map[string]error{
		"no struct": second(Ports[int]()),
		"no tag":    second(Ports[struct{ A string }]()),
		"not exported": second(Ports[struct {
			a string `port:"a"`
		}]()),
		"name twice": second(Ports[struct {
			A string `port:"a"`
			B string `port:"a"`
		}]()),
		"unknown option": second(Ports[struct {
			A string `port:"a,maybe"`
		}]()),
		"empty name": second(Ports[struct {
			A string `port:",optional"`
		}]()),
		"reserved name": second(Ports[struct {
			A string `port:"name"`
		}]()),
		"reserved ID": second(Ports[struct {
			A string `port:"ID"`
		}]()),
		"private name": second(Ports[struct {
			A string `port:"_a"`
		}]()),
		"space in name": second(Ports[struct {
			A string `port:"a b"`
		}]()),
		"bad default": second(Ports[struct {
			A int `port:"a" default:"x"`
		}]()),
		"texts that a number is one of": second(Ports[struct {
			A int `port:"a,optional" oneof:"red green"`
		}]()),
		"numbers that a text is between": second(Ports[struct {
			A string `port:"a,optional" between:"0 1"`
		}]()),
		"a bound that is no number": second(Ports[struct {
			A int `port:"a,optional" between:"0 many"`
		}]()),
		"events that are ints": second(Ports[struct {
			A []int `port:",events"`
		}]()),
		"a type that is a function": second(Ports[struct {
			A func() `port:"a"`
		}]()),
		"a type that is a channel": second(Ports[struct {
			A chan int `port:"a"`
		}]()),
		"a type that is an interface": second(Ports[struct {
			A any `port:"a"`
		}]()),
		"a type that is a small int": second(Ports[struct {
			A int8 `port:"a"`
		}]()),
	} {
		assert.That(t, err != nil, "%s is accepted", name)
	}
}

func second[A, B any](_ A, b B) B { return b }

func TestLeavesRefuseNamesThatCannotBeNodes(t *testing.T) {
	for _, name := range []string{"", "Sequence", "SubTree", "Action", "Decorator", "a b", "1a", "Ask!", "x:Ask", "Ä"} {
		leaf := Check(name, "", func(noPorts) (bool, string) { return true, "" })
		_, err := NewLeaves(leaf)
		assert.That(t, err != nil, "a leaf may be called %q", name)
	}
	fine := Check("A_z9Z", "", func(struct {
		Port string `port:"a_Z0z9A,optional"`
	}) (bool, string) {
		return true, ""
	})
	if _, err := NewLeaves(fine); err != nil {
		t.Error(err)
	}
	if _, err := NewLeaves(needLeaf(), needLeaf()); err == nil {
		t.Error("two leaves may have one name")
	}
	bad := Func("Bad", "", func(struct{ A string }, *noPorts) error { return nil })
	_, err := NewLeaves(bad, needLeaf(), needLeaf())
	assert.That(t, err != nil && strings.Contains(err.Error(), "leaf Bad: struct { A string }.A wants") &&
		strings.Contains(err.Error(), "leaf Need: that name is taken"), "not all errors are told: %v", err)
}

func TestValueThatAPortDoesNotTakeIsRefusedAtItsPlace(t *testing.T) {
	leaf := Check("Is", "", func(struct {
		Type  string  `port:"type,optional" oneof:"stuck partial"`
		Part  float64 `port:"part,optional" between:"0 1"`
		Turns int     `port:"turns,optional" between:"2"`
	}) (bool, string) {
		return true, ""
	})
	for node, want := range map[string]string{
		`<Is type="stuck" part="0.5" turns="2"/>`: "",
		`<Is part="1" turns="9000"/>`:             "",
		`<Is type="stukc"/>`:                      "did you mean stuck?",
		`<Is type="banana"/>`:                     "one of stuck, partial",
		`<Is part="7"/>`:                          "at most 1",
		`<Is part="-0.1"/>`:                       "at least 0",
		`<Is turns="1"/>`:                         "at least 2",
	} {
		got := problems(t, registry(t, leaf), file(node), Options{})
		assert.That(t, (want != "" || len(got) == 0) && (want == "" || (len(got) == 1 && strings.Contains(got[0], want))),
			"%s: %q; want %q", node, got, want)
	}
}

func TestPortsThatAreLeftOutAreKeysOfTheirNamesWhereTheFileSaysSo(t *testing.T) {
	byName := func(main string) string {
		return strings.Replace(file(main), "<root ", `<root default_ports="{=}" `, 1)
	}
	for _, c := range []struct {
		text string
		want values
	}{
		{byName(`<Sequence><Emit/><Use/></Sequence>`), values{Text: "emitted"}},
		{byName(`<Sequence><Emit/><Use text="written"/></Sequence>`), values{Text: "written"}},
		{byName(`<Sequence><Emit text="{other}"/><Use int="3"/></Sequence>`), values{Int: 3}},
		{byName("<Use text=\"on\n   two lines\"/>"), values{Text: "on two lines"}},
		{file(`<Sequence><Emit text="{text}"/><Use/></Sequence>`), values{}},
		{file(`<Sequence><Emit/><Use/></Sequence>`), values{}},
	} {
		var got values
		r := registry(t, useLeaf(func(v values) { got = v }), emitLeaf(&values{Text: "emitted"}))
		tree := load(t, r, c.text, Options{})
		step(t, tree, tree.NewState(), Input{})
		assert.NoDiff(t, cmp.Diff(c.want, got), "%s (-want +got)", c.text)
	}
	for text, want := range map[string][]string{
		byName(`<Emit/>`): nil,
		byName(`<Need/>`): {"1:96: nothing writes key {text}"},
		strings.Replace(byName(`<Emit/>`), "{=}", "yes", 1): {
			`1:7: default_ports is ‘yes’ // write default_ports="{=}", or leave it out`},
	} {
		assert.NoDiff(t, cmp.Diff(want, problems(t, someLeaves(t), text, Options{})), "%s (-want +got)", text)
	}
}
