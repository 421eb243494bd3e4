package bt

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sibyl/internal/behaviour/assert"
)

// FuzzLoad loads any bytes: the loader never panics and ends, every problem has a place inside the file, and what does
// load can be drawn, described, run for a step, saved and halted.
func FuzzLoad(f *testing.F) {
	for _, seed := range []string{
		"", "<root/>", pictured, file(`<AlwaysSuccess/>`),
		file(`<SubTree ID="A" x="{@y}" _autoremap="true"/>`,
			tree("A", `<Sequence _while="true"><SubTree ID="B"/><Script code="x := 'a'; @y := x .. 1"/></Sequence>`),
			tree("B", `<AlwaysFailure/>`)),
		file(`<Parallel success_count="-2"><Ask question="&lt;&#228;"/><Delay delay_msec="5"><AlwaysSuccess/></Delay><TryCatch><Need text="{a}"/><Emit text="{a}"/></TryCatch></Parallel>`),
		file(`<Control ID="WhileDoElse"><Condition ID="Need" text="1"/><Action ID="Ask" question='{"a":1}'/></Control>`),
		file(`<Loop max="{n}" until="{d}"><Emit bool="{d}" int="{n}" list="{l}" thing="{t}" ref="{r}"/></Loop>`),
		file(`<Use thing='{"name":"a"}' list="a;b" int="1" float="2" bool="1" ref="null"/>`),
		"<root BTCPP_format='4'>\r\n<!-- c --><BehaviorTree ID='A'><Bad " +
			"a='1'b=\"2\"/>text</BehaviorTree><![CDATA[x]]></root>",
		file(`<SubTree ID="Main"/>`), file(`<Loop max="1" until=""><AlwaysSuccess/></Loop>`),
		file(`<Timeout msec="{@}"><AlwaysSuccess/></Timeout>`),
	} {
		f.Add([]byte(seed))
	}
	for _, hostile := range hostileFiles {
		f.Add([]byte(hostile(20)))
	}
	f.Add([]byte(file(doubling)))
	known := someLeaves(f)
	f.Fuzz(func(t *testing.T, text []byte) { loadAndUse(t, known, text) })
}

// FuzzLoadTrees is FuzzLoad over files that are XML and mostly right: the bytes choose what is drawn.
func FuzzLoadTrees(f *testing.F) { f.Fuzz(rapid.MakeFuzz(wildFiles(f))) }

func TestRandomFilesLoadOrSayWhy(t *testing.T) { rapid.Check(t, wildFiles(t)) }

func wildFiles(tb testing.TB) func(*rapid.T) {
	known := someLeaves(tb)
	emitAll := `<Emit text="{text}" int="{int}" float="{float}" bool="{bool}" list="{list}" thing="{thing}" ref="{ref}"/>`
	return func(t *rapid.T) {
		w := &wild{T: t, wrong: rapid.SampledFrom([]int{0, 0, 1, 5, 30}).Draw(t, "wrong")}
		opt := Options{Given: []Port{{Name: "int", Type: typeInt}}[:rapid.IntRange(0, 1).Draw(t, "given")],
			Wanted: []Port{{Name: "bool", Type: typeBool}}[:rapid.IntRange(0, 1).Draw(t, "wanted")]}
		text := file(`<Sequence>`+emitAll+w.node(4)+`</Sequence>`, tree("A", w.node(2)), tree("B", w.node(2)))
		loadAndUse(t, known, []byte(text), opt)
	}
}

// wild draws nodes of all kinds that are wrong here and there, in so many of a hundred places.
type wild struct {
	*rapid.T
	wrong int
}

func (w *wild) slip() bool { return rapid.IntRange(1, 100).Draw(w.T, "slip") <= w.wrong }

func (w *wild) one(of ...string) string { return rapid.SampledFrom(of).Draw(w.T, "one") }

// anything is a value that fits some port or none.
func (w *wild) anything() string {
	return w.one("", "{text}", "{int}", "{b}", "{=}", "{@a}", "{@}", "{}", "{_p}", "1", "-1", "true", "false", "a;b",
		`{&quot;name&quot;:&quot;n&quot;}`,
		"null", "A", "Main", "Need", "a := 1", "a == 1", "b := a; a = 2", "@a := 'x'", "a := '", "SUCCESS")
}

func (w *wild) node(depth int) string {
	name := w.one(append(keysOf(kindByName), "Ask", "Need", "Emit", "Use", "SubTree", "SubTree")...)
	sp := kindByName[name]
	b := &strings.Builder{}
	b.WriteString("<" + name)
	attr := func(name, value string) {
		if w.slip() {
			value = w.anything()
		}
		if !w.slip() {
			fmt.Fprintf(b, ` %s="%s"`, name, value)
		}
	}
	kids := 0
	switch {
	case sp != nil:
		for _, p := range sp.ports {
			attr(p.name, w.one(fitting[p.want]...))
		}
		if kids = max(sp.min, min(sp.max, 3)); depth == 0 && kids > 0 {
			return "<AlwaysSuccess/>"
		}
	case name == "Ask":
		attr("question", w.one("why?", "{text}"))
		attr("limit", w.one("3", "{int}", "{float}"))
	case name == "Need":
		attr("text", w.one("", "words", "{text}"))
	case name == "SubTree":
		attr("ID", w.one("A", "B"))
		attr("_autoremap", "true")
	default:
		for _, p := range []string{"text", "int", "float", "bool", "list", "thing", "ref"} {
			attr(p, "{"+p+"}")
		}
	}
	if rapid.IntRange(0, 5).Draw(w.T, "guarded") == 0 {
		attr(w.one("_skipIf", "_while", "_failureIf", "_onSuccess", "_onHalted", "_post"),
			w.one("int == 1", "bool", "p := int", "text = text .. '.'"))
	}
	if w.slip() {
		attr(w.one("nam", "txt", "_what", "ID", "ref"), w.anything())
	}
	b.WriteString(">")
	if w.slip() {
		kids = rapid.IntRange(0, 4).Draw(w.T, "kids")
	}
	for range kids {
		b.WriteString(w.node(max(0, depth-1)))
	}
	return b.String() + "</" + name + ">"
}

// fitting are values for a kernel node's ports.
var fitting = map[portWant][]string{
	wantText:    {"{text}", "{int}", "1", "a"},
	wantInt:     {"1", "2", "{int}", "-1"},
	wantBool:    {"true", "false", "{bool}"},
	wantScript:  {"bool", "int &lt; 3 &amp;&amp; !bool", "float == 0"},
	wantStatus:  {"SUCCESS", "FAILURE", "RUNNING", "SKIPPED"},
	wantOut:     {"{int}", "{turn}"},
	wantOutBool: {"{bool}", "{last}"},
	wantKey:     {"{bool}"},
}

// tester is a *testing.T or a *rapid.T.
type tester interface {
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

func loadAndUse(t tester, known *Leaves, text []byte, opts ...Options) {
	var opt Options
	if len(opts) > 0 {
		opt = opts[0]
	}
	tr, err := known.Load("fuzz.xml", text, opt)
	if err != nil {
		var bad *LoadError
		if !errors.As(err, &bad) || len(bad.Problems) == 0 {
			t.Fatalf("%T %v", err, err)
		}
		lines := bytes.Split(text, []byte("\n"))
		for _, p := range bad.Problems {
			if p.Line < 1 || p.Line > len(lines) || p.Col < 1 || p.Col > len(lines[p.Line-1])+1 || p.Message == "" ||
				p.Warning {
				t.Errorf("%+v", p)
			}
		}
		return
	}
	if lines := strings.Count(tr.Picture(), "\n"); lines < tr.Size()+1 || tr.Size() > maxNodes {
		t.Errorf("%d lines for %d nodes", lines, tr.Size())
	}
	if err := known.Models(io.Discard); err != nil {
		t.Errorf("%v", err)
	}
	if again, err := known.Load("fuzz.xml", text, opt); err != nil || again.Hash != tr.Hash ||
		!reflect.DeepEqual(again.Warnings, tr.Warnings) {
		t.Errorf("loaded again it has hash %v, and %v", again, err)
	}
	stepThrough(t, tr)
}

// stepThrough takes a tree through some steps. What is asked for comes back, or fails, in the next step. It ends with a
// halt.
func stepThrough(t tester, tr *Tree) {
	s, in := tr.NewState(), Input{}
	for range 6 {
		in.Now += 10
		res, err := tr.Step(s, in, func(Event) {})
		if held := totalTextBytes(s.Slots); held != s.texts || held > MaxTexts {
			t.Errorf("%d bytes of text are held, and %d counted", held, s.texts)
		}
		if res.Visits > MaxVisits && !errors.Is(err, ErrBound) {
			t.Errorf("%d visits", res.Visits)
		}
		if err != nil {
			return // a key unwritten, a script that divides by zero
		}
		if err := idleIsIdle(tr, s); err != nil {
			t.Errorf("%v", err)
		}
		if (res.Status == Failure) != (res.Fault != nil) || res.Fault != nil && (res.Fault.Reason == "" ||
			res.Fault.Node == "") {
			t.Errorf("%v with %+v", res.Status, res.Fault)
		}
		if res.Status != Running {
			break
		}
		in.Done = nil
		for i, e := range res.Start {
			done := Completion{Op: e.Op, Ref: int64(e.Op), Result: json.RawMessage(`"said"`)}
			if i%2 == 1 {
				done.Result, done.Err = nil, &Fault{Kind: "odd", Reason: "it is"}
			}
			if len(e.Payload) > MaxPayload {
				t.Errorf("an effect is asked with %d bytes", len(e.Payload))
			}
			in.Done = append(in.Done, done)
		}
	}
	if _, err := tr.Halt(s, nil); err != nil {
		return // a script after a halt
	}
	if err := idleIsIdle(tr, s); err != nil {
		t.Errorf("%v", err)
	}
	if len(s.Tasks) > 0 {
		t.Errorf("after a halt, tasks are left: %+v", s.Tasks)
	}
}

// FuzzScript parses and runs any text: no panic, errors with their place, values that can be saved; with a bracket
// around each of its parts it means the same.
func FuzzScript(f *testing.F) {
	for _, seed := range []string{
		"", "x := 1; x += 2", "n > 2 && text == 'abc' || !yes", "a ? b : c", "'a' .. 1.5e3", "((((1))))", "@x := -y",
		"list == thing", "1/0", "näme := ''",
		"a := 1e308 * 10", "n = 2.5", "x := 'unclosed", "0x1F", "1..2", "n *= n; n", "text += text",
		strings.Repeat("text += text;", 40), strings.Repeat("(", 500) + "1", strings.Repeat("!", 4000) + "yes",
		strings.Repeat("n ? n : ", 300) + "n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := parseScript(text)
		var wrong *scriptError
		switch {
		case err == nil && len(s.stmts) == 0:
			t.Error("a script without statements")
		case err == nil:
		case !errors.As(err, &wrong) || wrong.pos < 0 || wrong.pos > len(text) || wrong.msg == "":
			t.Errorf("%T %v", err, err)
		}
		keys := map[string]any{"n": 3, "x": 2.5, "text": "abc", "yes": true, "list": []string{"a"}, "thing": thing{}}
		v, err := evaluate(t, text, keys)
		if full := bracketed(s); s != nil && len(full) <= maxScript {
			again, errAgain := evaluate(t, full, keys)
			assert.That(t, reflect.DeepEqual(v, again) && (err == nil) == (errAgain == nil),
				"it gives %v, %v; as %s it gives %v, %v", v, err, full, again, errAgain)
		}
		if err != nil {
			return
		}
		_, err = toBasic(v)
		assert.That(t, err == nil, "a script gives %#v", v)
		f, ok := v.(float64)
		assert.That(t, !ok || isFinite(f), "a script gives %v", f)
	})
}

// bracketed writes a script with a bracket around each part.
func bracketed(s *script) string {
	if s == nil {
		return ""
	}
	var b strings.Builder
	for _, e := range s.stmts {
		e.bracketed(&b)
		b.WriteByte(';')
	}
	return b.String()
}

func (e *expr) bracketed(b *strings.Builder) {
	around := func(before string, kid int, after string) {
		b.WriteString(before)
		e.kids[kid].bracketed(b)
		b.WriteString(after)
	}
	switch {
	case e.op == opLiteral && e.lit.kind == isText:
		b.WriteString("'" + e.lit.text + "'")
	case e.op == opLiteral && e.lit.kind == isBool:
		fmt.Fprint(b, e.lit.value())
	case e.op == opLiteral:
		b.WriteString(strconv.FormatFloat(e.lit.num, 'e', -1, 64))
	case e.op == opKey:
		b.WriteString(e.key)
	case e.op == opNot:
		around("!(", 0, ")")
	case e.op == opNegative:
		around("-(", 0, ")")
	case e.op == opChoice:
		around("(", 0, ") ? (")
		around("", 1, ") : (")
		around("", 2, ")")
	case e.op == opCreate || e.op == opAssign:
		around(e.key+" "+e.op.String()+" (", 0, ")")
	case e.op == opUpdate:
		around(e.key+" "+e.updateOp.String()+"= (", 0, ")")
	default:
		around("(", 0, ") "+e.op.String()+" (")
		around("", 1, ")")
	}
}
