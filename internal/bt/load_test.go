package bt

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// mark stands in a case's file before each place where a problem is expected, in the order of the problems.
const mark = "¦"

// marked takes the marks out of a file and gives their places.
func marked(text string) (clean string, places []string) {
	parts := strings.Split(text, mark)
	for i, part := range parts {
		clean += part
		if i < len(parts)-1 {
			line := strings.Count(clean, "\n") + 1
			col := utf8.RuneCountInString(clean[strings.LastIndexByte(clean, '\n')+1:]) + 1
			places = append(places, fmt.Sprintf("%d:%d: ", line, col))
		}
	}
	return clean, places
}

type loadCase struct {
	name string
	text string // with marks
	opt  Options
	want []string // "message // hint"; a warning begins with "warning "
}

func (c *loadCase) check(t *testing.T) {
	t.Helper()
	text, places := marked(c.text)
	var want []string
	for i, w := range c.want {
		if i >= len(places) {
			t.Fatalf("the case has %d marks for %d problems", len(places), len(c.want))
		}
		if rest, warning := strings.CutPrefix(w, "warning "); warning {
			want = append(want, "warning "+places[i]+rest)
		} else {
			want = append(want, places[i]+w)
		}
	}
	if diff := cmp.Diff(want, problems(t, someLeaves(t), text, c.opt)); diff != "" {
		t.Errorf("problems (-want +got):\n%s\nin %s", diff, text)
	}
}

func runLoadCases(t *testing.T, cases []loadCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, c.check)
	}
}

func TestBadFileIsRefusedAtItsPlace(t *testing.T) {
	runLoadCases(t, []loadCase{
		{name: "empty", text: mark,
			want: []string{`there is no root element // a tree file begins with <root BTCPP_format="4">`}},
		{name: "only a comment", text: mark + `<!-- nothing -->`,
			want: []string{`there is no root element // a tree file begins with <root BTCPP_format="4">`}},
		{name: "wrong root", text: "\n" + mark + `<tree/>`,
			want: []string{`the root element is <tree> // a tree file begins with <root BTCPP_format="4">`}},
		{name: "no trees", text: mark + `<root BTCPP_format="4"/>`,
			want: []string{`the file holds no tree // write <BehaviorTree ID="Name">`}},
		{name: "format 3", text: mark +
			`<root BTCPP_format="3"><BehaviorTree ID="A"><AlwaysSuccess/></BehaviorTree></root>`,
			want: []string{`this is not BehaviorTree.CPP format 4 // write <root BTCPP_format="4">`}},
		{name: "no format", text: mark + `<root><BehaviorTree ID="A"><AlwaysSuccess/></BehaviorTree></root>`,
			want: []string{`this is not BehaviorTree.CPP format 4 // write <root BTCPP_format="4">`}},
		{name: "never closed", text: `<root BTCPP_format="4">` + "\n" + mark + `<BehaviorTree ID="A">`,
			want: []string{`<BehaviorTree> is never closed`}},
		{name: "closed in the wrong order", text: "<root>\n <Sequence>\n  <Inverter>\n " + mark + "</Sequence></root>",
			want: []string{`</Sequence> does not close <Inverter> of line 3`}},
		{name: "closed too often", text: "<root></root>" + mark + "</root>",
			want: []string{`</root> closes nothing that is open`}},
		{name: "two roots", text: `<root/>` + mark + `<root/>`,
			want: []string{`a second root element <root> // put all trees into one <root>`}},
		{name: "text after the root", text: "<root/>\n " + mark + "and so on",
			want: []string{`text stands outside the root element`}},
		{name: "attribute twice", text: `<root BTCPP_format="4"><BehaviorTree ID="A"><AlwaysSuccess name="a" ` + mark +
			`name="b"/></BehaviorTree></root>`,
			want: []string{`attribute name stands twice`}},
		{name: "foreign encoding", text: `<?xml version="1.0" encoding="ISO-8859-1"?>` + mark + `<root/>`,
			want: []string{`the file can't be read: encoding "ISO-8859-1" // save it as UTF-8, beginning with <?xml version="1.0" encoding="UTF-8"?>`}},
		{name: "include", text: `<root BTCPP_format="4">` + mark +
			`<include path="x.xml"/><BehaviorTree ID="A"><AlwaysSuccess/></BehaviorTree></root>`,
			want: []string{`<include> is not supported: a run keeps its tree as one text // put its trees into this file`}},
		{name: "stranger below root", text: `<root BTCPP_format="4">` + mark +
			`<Sequence/><BehaviorTree ID="A"><AlwaysSuccess/></BehaviorTree></root>`,
			want: []string{`<Sequence> does not belong below <root> // trees stand in <BehaviorTree ID=…>`}},
	})
}

func TestAmpersandInAnAttributeIsExplained(t *testing.T) {
	for _, script := range []string{"a && b", "a &and; b", "a < b"} {
		got := problems(t, someLeaves(t), file(`<ScriptCondition code="`+script+`"/>`), Options{})
		if len(got) != 1 || !strings.HasSuffix(got[0], "// in XML, write &amp; for & and &lt; for <") {
			t.Errorf("%s: %q", script, got)
		}
	}
}

func TestBadTreeDefinitionIsRefusedAtItsPlace(t *testing.T) {
	const ok = `<AlwaysSuccess/></BehaviorTree>`
	runLoadCases(t, []loadCase{
		{name: "without ID", text: `<root BTCPP_format="4">` + mark + `<BehaviorTree>` + ok + `<BehaviorTree ID="A">` +
			ok + `</root>`,
			want: []string{`a <BehaviorTree> without ID // write <BehaviorTree ID="Name">`}},
		{name: "ID twice", text: `<root BTCPP_format="4"><BehaviorTree ID="A">` + ok + `<BehaviorTree ` + mark +
			`ID="A">` + ok + `</root>`,
			want: []string{`a second tree is called A // rename one of them`}},
		{name: "empty", text: `<root BTCPP_format="4">` + mark + `<BehaviorTree ID="A"></BehaviorTree></root>`,
			want: []string{`tree A is empty // put one node into it`}},
		{name: "two nodes", text: `<root BTCPP_format="4"><BehaviorTree ID="A"><AlwaysSuccess/>` + mark + ok +
			`</root>`,
			want: []string{`tree A has 2 nodes at its top, not one // put them into a Sequence or Fallback`}},
		{name: "main tree unknown", text: `<root BTCPP_format="4" ` + mark +
			`main_tree_to_execute="Mian"><BehaviorTree ID="Main">` + ok + `</root>`,
			want: []string{`there is no tree Mian // did you mean Main?`}},
		{name: "main tree not named", text: mark + `<root BTCPP_format="4"><BehaviorTree ID="A">` + ok +
			`<BehaviorTree ID="B">` + ok + `</root>`,
			want: []string{`the file holds 2 trees and names no main one // write <root BTCPP_format="4" main_tree_to_execute="…">`}},
		{name: "main tree asked for", text: mark + `<root BTCPP_format="4"><BehaviorTree ID="Answer">` + ok + `</root>`,
			opt:  Options{Main: "Question"},
			want: []string{`there is no tree Question in this file // there is: Answer`}},
		{name: "contains itself", text: file(`<SubTree ID="A"/>`,
			`<BehaviorTree ID="A"><SubTree ID="B"/></BehaviorTree>`,
			`<BehaviorTree ID="B"><Sequence>`+mark+`<SubTree ID="A"/></Sequence></BehaviorTree>`),
			want: []string{`tree A contains itself // use Repeat, RetryUntilSuccessful or Loop instead`}},
	})
}

func TestNamedMainTreeIsTheOneThatRuns(t *testing.T) {
	text := `<root BTCPP_format="4" main_tree_to_execute="A"><BehaviorTree ID="A"><AlwaysSuccess/></BehaviorTree><BehaviorTree ID="B"><AlwaysFailure/></BehaviorTree></root>`
	for main, want := range map[string]Status{"": Success, "A": Success, "B": Failure} {
		tree := load(t, someLeaves(t), text, Options{Main: main})
		if got := step(t, tree, tree.NewState(), Input{}).Status; got != want {
			t.Errorf("main tree %q: %v", main, got)
		}
	}
}

func TestUnfitNodeIsRefusedAtItsPlace(t *testing.T) {
	runLoadCases(t, []loadCase{
		{name: "unknown node", text: file(mark + `<Sequnce/>`),
			want: []string{`there is no node <Sequnce> // did you mean Sequence?`}},
		{name: "unknown leaf", text: file(mark + `<Aks/>`),
			want: []string{`there is no node <Aks> // ‘sibyl tree models’ lists the nodes there are`}},
		{name: "wrong case", text: file(mark + `<subtree/>`),
			want: []string{`there is no node <subtree> // did you mean SubTree?`}},
		{name: "category without ID", text: file(mark + `<Action/>`),
			want: []string{`there is no node <Action> // write <Action ID="Name"/> or <Name/>`}},
		{name: "explicit form of an unknown node",
			text: file(mark + `<Control ID="Sequens"><AlwaysSuccess/></Control>`),
			want: []string{`there is no node <Sequens> // did you mean Sequence?`}},
		{name: "prefixed name", text: file(mark + `<x:Sequence/>`),
			want: []string{`there is no node <x:Sequence> // did you mean Sequence?`}},
		{name: "too few children", text: file(mark + `<Sequence/>`),
			want: []string{`Sequence takes 1 or more children, not 0`}},
		{name: "too many children", text: file(mark + `<Inverter><AlwaysSuccess/><AlwaysSuccess/></Inverter>`),
			want: []string{`Inverter takes one child, not 2`}},
		{name: "children of a choice",
			text: file(mark + `<Switch2 variable="a" case_1="a" case_2="b"><AlwaysSuccess/></Switch2>`),
			want: []string{`Switch2 takes 3 children, not 1`}},
		{name: "range of children", text: file(mark + `<IfThenElse><AlwaysSuccess/></IfThenElse>`),
			want: []string{`IfThenElse takes 2 to 3 children, not 1`}},
		{name: "child of a kernel action", text: file(mark + `<AlwaysSuccess><AlwaysSuccess/></AlwaysSuccess>`),
			want: []string{`AlwaysSuccess takes no children`}},
		{name: "child of a leaf", text: file(mark + `<Use><AlwaysSuccess/></Use>`),
			want: []string{`Use takes no children`}},
		{name: "child of a subtree", text: file(`<SubTree ID="A">`+mark+`<AlwaysSuccess/></SubTree>`,
			`<BehaviorTree ID="A"><AlwaysSuccess/></BehaviorTree>`),
			want: []string{`a SubTree takes no children`}},
		{name: "subtree without ID", text: file(mark + `<SubTree/>`),
			want: []string{`a SubTree without ID // write <SubTree ID="Name"/>`}},
		{name: "unknown subtree", text: file(`<SubTree ` + mark + `ID="Mai"/>`),
			want: []string{`there is no tree Mai // did you mean Main?`}},
		{name: "more than 64 parallel children", text: file(mark + `<Parallel>` + strings.Repeat(`<AlwaysSuccess/>`,
			65) + `</Parallel>`),
			want: []string{`Parallel takes 1 to 64 children, not 65`}},
		{name: "threshold above the children",
			text: file(`<Parallel ` + mark + `success_count="3"><AlwaysSuccess/><AlwaysSuccess/></Parallel>`),
			want: []string{`success_count is 3, but there are only 2 children // negative counts from the end: -1 means all children`}},
		{name: "threshold below the children", text: file(`<Parallel failure_count="1" ` + mark +
			`success_count="-4"><AlwaysSuccess/><AlwaysSuccess/></Parallel>`),
			want: []string{`success_count is -4, but there are only 2 children // negative counts from the end: -1 means all children`}},
		{name: "max_failures above the children",
			text: file(`<ParallelAll ` + mark + `max_failures="2"><AlwaysSuccess/></ParallelAll>`),
			want: []string{`max_failures is 2, but there are only 1 children // negative counts from the end: -1 means all children`}},
	})
}

func TestUnfitPortIsRefusedAtItsPlace(t *testing.T) {
	runLoadCases(t, []loadCase{
		{name: "unknown port of a leaf", text: file(`<Use name="u" ` + mark + `txt="x"/>`),
			want: []string{`Use has no port txt // did you mean text?`}},
		{name: "unknown port of a kernel node", text: file(`<Timeout msec="5" ` + mark +
			`seconds="5"><AlwaysSuccess/></Timeout>`),
			want: []string{`Timeout has no port seconds // there is: msec`}},
		{name: "port of a node that has none", text: file(`<AlwaysSuccess ` + mark + `text="x"/>`),
			want: []string{`AlwaysSuccess has no port text`}},
		{name: "missing port of a leaf", text: file(mark + `<Need/>`),
			want: []string{`Need wants port text (std::string): some words // write text="{key}"`}},
		{name: "missing port of a kernel node", text: file(mark + `<Repeat><AlwaysSuccess/></Repeat>`),
			want: []string{`Repeat wants port num_cycles // write num_cycles=…`}},
		{name: "literal int", text: file(`<Use ` + mark + `int="three"/>`),
			want: []string{`Use: port int: ‘three’ is not a whole number // or write int="{key}"`}},
		{name: "literal float", text: file(`<Use ` + mark + `float="NaN"/>`),
			want: []string{`Use: port float: ‘NaN’ is not a number // or write float="{key}"`}},
		{name: "literal bool", text: file(`<Use ` + mark + `bool="yes"/>`),
			want: []string{`Use: port bool: ‘yes’ is not true or false // or write bool="{key}"`}},
		{name: "literal struct", text: file(`<Use ` + mark + `thing="a;b"/>`),
			want: []string{`Use: port thing: ‘a;b’ is not JSON for bt.thing // or write thing="{key}"`}},
		{name: "literal of a kernel node", text: file(`<Timeout ` + mark + `msec="soon"><AlwaysSuccess/></Timeout>`),
			want: []string{`port msec: ‘soon’ is not a whole number // or write msec="{key}"`}},
		{name: "bool where a number is wanted",
			text: file(`<Repeat ` + mark + `num_cycles="true"><AlwaysSuccess/></Repeat>`),
			want: []string{`port num_cycles: ‘true’ is not a whole number // or write num_cycles="{key}"`}},
		{name: "negative time", text: file(`<Delay ` + mark + `delay_msec="-1"><AlwaysSuccess/></Delay>`),
			want: []string{`port delay_msec: -1 is less than 0`}},
		{name: "literal flag", text: file(`<RunOnce ` + mark + `then_skip="maybe"><AlwaysSuccess/></RunOnce>`),
			want: []string{`port then_skip: ‘maybe’ is not true or false // or write then_skip="{key}"`}},
		{name: "literal status", text: file(`<Precondition if="true" ` + mark +
			`else="IDLE"><AlwaysSuccess/></Precondition>`),
			want: []string{`port else: ‘IDLE’ is not a status // write SUCCESS, FAILURE, SKIPPED or RUNNING`}},
		{name: "output that is no key", text: file(`<Emit ` + mark + `text="answer"/>`),
			want: []string{`output port text wants a key, not ‘answer’ // write text="{key}"`}},
		{name: "loop without until", text: file(mark + `<Loop max="3"><AlwaysSuccess/></Loop>`),
			want: []string{`Loop wants port until // write until=…`}},
		{name: "loop until nothing", text: file(`<Loop max="3" ` + mark + `until=""><AlwaysSuccess/></Loop>`),
			want: []string{`port until wants a key, not ‘’ // write until="{key}"`}},
		{name: "loop turn to a literal", text: file(`<Sequence><Script code="d := true"/><Loop max="3" until="{d}" ` +
			mark + `turn="1"><AlwaysSuccess/></Loop></Sequence>`),
			want: []string{`port turn wants a key, not ‘1’ // write turn="{key}"`}},
		{name: "_autoremap", text: file(`<SubTree ID="A" `+mark+`_autoremap="yes"/>`,
			`<BehaviorTree ID="A"><AlwaysSuccess/></BehaviorTree>`),
			want: []string{`_autoremap: ‘yes’ is not true or false`}},
	})
}

func TestScriptErrorPointsIntoTheScript(t *testing.T) {
	runLoadCases(t, []loadCase{
		{name: "plain", text: file(`<Script code="x := 1; y ` + mark + `:- 2"/>`),
			want: []string{`code: unexpected ‘:’`}},
		{name: "single quotes", text: file(`<Script code='x := ` + mark + `'/>`),
			want: []string{`code: a value is missing`}},
		{name: "behind entities", text: file(`<ScriptCondition code="1 &lt; 2 &amp;&amp; &#228;&#xe4; &lt;= ` + mark +
			`#"/>`), want: []string{`code: ‘#’ means nothing here`}},
		{name: "spaces around the equals sign", text: file(`<Script code  =  "x := ` + mark + `)"/>`),
			want: []string{`code: a value is missing`}},
		{name: "on a second line", text: file("<Script code=\"x := 1;\n  y := " + mark + ")\"/>"),
			want: []string{`code: a value is missing`}},
		{name: "on a second line that ends in CRLF", text: file("<Script code=\"x := 1;\r\n  y := " + mark + ")\"/>"),
			want: []string{`code: a value is missing`}},
		{name: "behind a guard that holds the same text",
			text: file(`<Sequence _skipIf="false == (1 &gt; 2)" _while="true ` + mark +
				`x"><AlwaysSuccess/></Sequence>`),
			want: []string{`_while: unexpected ‘x’`}},
		{name: "text without end", text: file(`<Script code="x := ` + mark + `'abc"/>`),
			want: []string{`code: a text that begins with ' does not end`}},
		{name: "empty", text: file(`<Script code="` + mark + `"/>`), want: []string{`code: the script is empty`}},
		{name: "too long", text: file(`<Script code="` + mark + `x := 1` + strings.Repeat(" + 1", 1200) + `"/>`),
			want: []string{`code: the script is longer than 4096 bytes`}},
		{name: "unwritten key", text: file(`<Sequence><Script code="total := 1"/><Script code="y := ` + mark +
			`totl"/></Sequence>`),
			want: []string{`nothing writes key {totl} // did you mean total?`}},
		{name: "= does not create", text: file(`<Script code="` + mark + `x = 1"/>`),
			want: []string{`nothing writes key {x}`}},
	})
}

func TestAttributePlacesSurviveLookalikes(t *testing.T) {
	runLoadCases(t, []loadCase{
		{name: "name inside an earlier value", text: file(`<Use text=" bol=1 " ` + mark + `bol="1"/>`),
			want: []string{`Use has no port bol // did you mean bool?`}},
		{name: "prefix of an earlier name", text: file(`<Use ` + mark + `boolean="1" bool="true" ` + mark +
			`boo="1"/>`),
			want: []string{`Use has no port boolean // did you mean bool?`,
				`Use has no port boo // did you mean bool?`}},
		{name: "no space between", text: file(`<Use text="a"` + mark + `txt="b"/><!-- txt txt -->`),
			want: []string{`Use has no port txt // did you mean text?`}},
		{name: "other quotes inside", text: file(`<Use text='"a" txt="b"' ` + mark + `txt="b"/>`),
			want: []string{`Use has no port txt // did you mean text?`}},
		{name: "newlines between", text: file("<Use\n\ttext\n=\n\"a\"\n\t" + mark + "txt='b'/>"),
			want: []string{`Use has no port txt // did you mean text?`}},
		{name: "multibyte before", text: file(`<Use text="äöü→" ` + mark + `txt="b"/>`),
			want: []string{`Use has no port txt // did you mean text?`}},
		{name: "CRLF before", text: file("<Sequence>\r\n  <AlwaysSuccess/>\r\n  " + mark + "<Nothing/>\r\n</Sequence>"),
			want: []string{`there is no node <Nothing> // ‘sibyl tree models’ lists the nodes there are`}},
		{name: "comment before", text: file("<!-- <Bad/>\n -->" + mark + "<Nothing/>"),
			want: []string{`there is no node <Nothing> // ‘sibyl tree models’ lists the nodes there are`}},
	})
}

func TestByteOrderMarkIsNotAColumn(t *testing.T) {
	got := problems(t, someLeaves(t), "\ufeff<root/>", Options{})
	if len(got) == 0 || !strings.HasPrefix(got[0], "1:1: ") {
		t.Errorf("problems: %q", got)
	}
}

func TestWiringIsChecked(t *testing.T) {
	given := Options{Given: []Port{{Name: "question", Type: typeInt}}}
	runLoadCases(t, []loadCase{
		{name: "never written", text: file(`<Sequence><Emit text="{answer}"/><Need ` + mark +
			`text="{anser}"/></Sequence>`),
			want: []string{`nothing writes key {anser} // did you mean answer?`}},
		{name: "never written, none near", text: file(`<Sequence><Emit text="{answer}" int="{n}"/><Need ` + mark +
			`text="{question}"/></Sequence>`),
			want: []string{`nothing writes key {question} // there is: answer, n`}},
		{name: "never written, kernel port", text: file(`<Timeout ` + mark + `msec="{ms}"><AlwaysSuccess/></Timeout>`),
			want: []string{`nothing writes key {ms}`}},
		{name: "never written, loop",
			text: file(`<Loop max="3" ` + mark + `until="{don}"><Emit bool="{done}"/></Loop>`),
			want: []string{`nothing writes key {don} // did you mean done?`}},
		{name: "type clash with the writer", text: file("<Sequence>\n <Emit int=\"{n}\"/>\n <Need " + mark +
			"text=\"{n}\"/>\n</Sequence>"),
			want: []string{`port text is std::string, but key {n} holds int // the key gets its type at 2:8`}},
		{name: "two writers of different types", text: file(`<Sequence><Emit text="{n}"/><Emit ` + mark +
			`list="{n}"/><Need text="{n}"/></Sequence>`),
			want: []string{`port list is []string, but key {n} holds std::string // the key gets its type at 1:92`}},
		{name: "type clash with a given key", text: file(`<Need ` + mark + `text="{question}"/>`), opt: given,
			want: []string{`port text is std::string, but key {question} holds int // the key is given from outside`}},
		{name: "script reads a struct", text: file(`<Sequence><Emit thing="{t}"/><ScriptCondition code="1 == ` + mark +
			`t"/></Sequence>`),
			want: []string{`code reads key {t}, which holds bt.thing: it knows texts, numbers and bools // the key gets its type at 1:92`}},
		{name: "literal of a subtree does not fit", text: file(`<SubTree ID="A" `+mark+`n="many"/>`,
			`<BehaviorTree ID="A"><Use int="{n}"/></BehaviorTree>`),
			want: []string{`key {n}: ‘many’ is not a whole number`}},
		{name: "subtree port unknown", text: file(`<SubTree ID="A" `+mark+`tex="many"/>`,
			`<BehaviorTree ID="A"><Use text="{text}"/></BehaviorTree>`),
			want: []string{`tree A has no key {tex} // did you mean text?`}},
		{name: "key not handed in", text: file(`<Sequence><Emit text="{text}"/><SubTree ID="A"/></Sequence>`,
			`<BehaviorTree ID="A"><Need `+mark+`text="{text}"/></BehaviorTree>`),
			want: []string{`nothing writes key {text} // hand it in: <SubTree … text="{key}"/>`}},
		{name: "key handed in but never written", text: file(`<SubTree ID="A" text="{answer}"/>`,
			`<BehaviorTree ID="A"><Need `+mark+`text="{text}"/></BehaviorTree>`),
			want: []string{`nothing writes key {answer}, which is {text} here`}},
		{name: "two parallel writers", text: file(`<Sequence><Parallel><Emit text="{a}"/><Sequence><Emit ` + mark +
			`text="{a}"/></Sequence></Parallel><Need text="{a}"/></Sequence>`),
			want: []string{`two children of one Parallel write key {a} // give each its own key`}},
		{name: "two parallel script writers",
			text: file(`<Sequence><Script code="n := 0"/><ParallelAll><Script code="n += 1"/><Script code="` + mark +
				`n += 1"/></ParallelAll></Sequence>`),
			want: []string{`two children of one ParallelAll write key {n} // give each its own key`}},
	})
}

func TestWhatTheCallerWantsIsChecked(t *testing.T) {
	const before = `<root BTCPP_format="4">`
	opt := func(p Port) Options { return Options{Wanted: []Port{p}} }
	text := Port{Name: "answer", Type: reflect.TypeFor[string]()}
	runLoadCases(t, []loadCase{
		{name: "never written", text: before + mark +
			`<BehaviorTree ID="A"><Sequence><Emit text="{anser}"/><Need text="{anser}"/></Sequence></BehaviorTree></root>`, opt: opt(text),
			want: []string{`nothing writes key {answer} // did you mean anser?`}},
		{name: "other type", text: before + mark + `<BehaviorTree ID="A"><Emit int="{answer}"/></BehaviorTree></root>`,
			opt:  opt(text),
			want: []string{`the caller wants key {answer} as std::string, but it holds int // the key gets its type at 1:51`}},
		{name: "optional and never written", text: before +
			`<BehaviorTree ID="A"><AlwaysSuccess/></BehaviorTree></root>`,
			opt: opt(Port{Name: "answer", Type: reflect.TypeFor[string](), Optional: true})},
		{name: "written", text: before + `<BehaviorTree ID="A"><Emit text="{answer}"/></BehaviorTree></root>`,
			opt: opt(text)},
	})
}

func TestDoubtfulThingsAreWarnings(t *testing.T) {
	runLoadCases(t, []loadCase{
		{name: "unused tree", text: file(`<AlwaysSuccess/>`,
			mark+`<BehaviorTree ID="Other"><AlwaysSuccess/></BehaviorTree>`),
			want: []string{`warning tree Other is not used by Main`}},
		{name: "tree used by an unused tree", text: file(`<AlwaysSuccess/>`,
			mark+`<BehaviorTree ID="Other"><SubTree ID="Third"/></BehaviorTree>`,
			mark+`<BehaviorTree ID="Third"><AlwaysSuccess/></BehaviorTree>`),
			want: []string{`warning tree Other is not used by Main`, `warning tree Third is not used by Main`}},
		{name: "key nobody reads", text: file(`<Emit ` + mark + `text="{answer}"/>`),
			want: []string{`warning nothing reads key {answer} // leave it out if nobody needs it`}},
		{name: "optional port of a key nobody writes", text: file(`<Use ` + mark + `text="{answer}"/>`),
			want: []string{`warning nothing writes key {answer}: port text never gets a value from it`}},
		{name: "switch over a key nobody writes",
			text: file(`<Switch2 ` + mark +
				`variable="{x}" case_1="a" case_2="b"><AlwaysSuccess/><AlwaysSuccess/><AlwaysSuccess/></Switch2>`),
			want: []string{`warning nothing writes key {x}: port variable never gets a value from it`}},
		{name: "task before the end of a reactive node", text: file(`<ReactiveSequence>` + mark +
			`<Ask question="a"/><Ask question="b"/></ReactiveSequence>`),
			want: []string{`warning task Ask stands before the end of a ReactiveSequence // it is performed again whenever a later child is ticked: put it last, or use a node that is not reactive`}},
		{name: "task in a reactive condition", text: file(`<WhileDoElse><Inverter>` + mark +
			`<Ask question="a"/></Inverter><Ask question="b"/></WhileDoElse>`),
			want: []string{`warning task Ask stands before the end of a WhileDoElse // it is performed again whenever a later child is ticked: put it last, or use a node that is not reactive`}},
		{name: "unknown attribute", text: file(`<AlwaysSuccess ` + mark + `_skipif="true"/>`),
			want: []string{`warning attribute _skipif means nothing and is ignored // did you mean _skipIf?`}},
		{name: "Groot's own attributes", text: file(`<AlwaysSuccess _uid="3" _fullpath="x"/>`)},
		{name: "stray text", text: file("<Sequence>\n " + mark + "AlwaysSuccess/><AlwaysSuccess/></Sequence>"),
			want: []string{`warning text in <Sequence> means nothing and is ignored`}},
	})
}

func TestAllProblemsAreReportedTogetherInOrder(t *testing.T) {
	c := loadCase{text: `<root BTCPP_format="4" ` + mark + `main_tree_to_execute="Nobody">
  ` + mark + `<include path="a.xml"/>
  <BehaviorTree ID="Main">
    ` + mark + `<Inverter ` + mark + `what="1">
      <Sequence>
        ` + mark + `<Sequenz><Need ` + mark + `txt="1" text="2"/></Sequenz>
        <Script code="a := ` + mark + `"/>
      </Sequence>
      ` + mark + `<Need/>
    </Inverter>
  </BehaviorTree>
</root>`, want: []string{
		`there is no tree Nobody // there is: Main`,
		`<include> is not supported: a run keeps its tree as one text // put its trees into this file`,
		`Inverter takes one child, not 2`,
		`Inverter has no port what`,
		`there is no node <Sequenz> // did you mean Sequence?`,
		`Need has no port txt // did you mean text?`,
		`code: a value is missing`,
		`Need wants port text (std::string): some words // write text="{key}"`,
	}}
	c.check(t)
}

func TestOneMistakeIsNotReportedTwice(t *testing.T) {
	runLoadCases(t, []loadCase{
		{name: "in a subtree used three times",
			text: file(`<Sequence><SubTree ID="A"/><SubTree ID="A"/><Inverter><SubTree ID="A"/></Inverter></Sequence>`,
				`<BehaviorTree ID="A"><Sequence><Need `+mark+`txt="1" text="a"/>`+mark+
					`<Need/></Sequence></BehaviorTree>`),
			want: []string{`Need has no port txt // did you mean text?`,
				`Need wants port text (std::string): some words // write text="{key}"`}},
		{name: "the outputs of an unknown node count as written",
			text: file(`<Sequence>` + mark + `<Emmit text="{answer}"/><Need text="{answer}"/></Sequence>`),
			want: []string{`there is no node <Emmit> // did you mean Emit?`}},
		{name: "the key of an unknown port counts as written",
			text: file(`<Sequence><Emit ` + mark + `txt="{answer}"/><Need text="{answer}"/></Sequence>`),
			want: []string{`Emit has no port txt // did you mean text?`}},
		{name: "the outputs of an unknown subtree count as written", text: file(`<Sequence><SubTree ` + mark +
			`ID="Answer" text="{answer}"/><Need text="{answer}"/></Sequence>`),
			want: []string{`there is no tree Answer // there is: Main`}},
		{name: "an empty tree is there", text: file(`<SubTree ID="A"/>`, mark+`<BehaviorTree ID="A"/>`),
			want: []string{`tree A is empty // put one node into it`}},
	})
}

func TestTreesThatNothingUsesAreCheckedToo(t *testing.T) {
	runLoadCases(t, []loadCase{
		{name: "unused tree", text: file(`<AlwaysSuccess/>`, `<BehaviorTree ID="A"><Sequence>`+mark+
			`<Sequenz/><SubTree `+mark+`ID="C"/></Sequence></BehaviorTree>`),
			want: []string{`there is no node <Sequenz> // did you mean Sequence?`,
				`there is no tree C // there is: A, Main`}},
		{name: "keys of an unused tree are not checked: who uses it may give them", text: file(`<AlwaysSuccess/>`,
			mark+`<BehaviorTree ID="A"><Need text="{x}"/></BehaviorTree>`),
			want: []string{`warning tree A is not used by Main`}},
		{name: "no main tree", text: mark + `<root BTCPP_format="4"><BehaviorTree ID="A">` + mark +
			`<Sequenz/></BehaviorTree><BehaviorTree ID="B">` + mark + `<Need/></BehaviorTree></root>`,
			want: []string{`the file holds 2 trees and names no main one // write <root BTCPP_format="4" main_tree_to_execute="…">`,
				`there is no node <Sequenz> // did you mean Sequence?`,
				`Need wants port text (std::string): some words // write text="{key}"`}},
	})
}

func TestLoadErrorListsEveryProblemWithPlaceAndHint(t *testing.T) {
	_, err := someLeaves(t).Load("trees/a.xml", []byte(file(`<Sequence><Nothing/><Need txt="1" text="a"/></Sequence>`)),
		Options{})
	want := "trees/a.xml:1:86: there is no node <Nothing>\n    ‘sibyl tree models’ lists the nodes there are\n" +
		"trees/a.xml:1:102: Need has no port txt\n    did you mean text?"
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
	warning := Problem{File: "a.xml", Line: 2, Col: 3, Message: "m", Warning: true}
	if got := warning.String(); got != "a.xml:2:3: warning: m" {
		t.Errorf("a warning reads %q", got)
	}
}

func TestExplicitFormIsTheSameNode(t *testing.T) {
	compact := load(t, someLeaves(t),
		file(`<Fallback name="f"><Inverter><Need text="a"/></Inverter><Ask question="b"/></Fallback>`), Options{})
	explicit := load(t, someLeaves(t),
		file(`<Control ID="Fallback" name="f"><Decorator ID="Inverter"><Condition ID="Need" text="a"/></Decorator><Action ID="Ask" question="b"/></Control>`), Options{})
	if a, b := compact.Picture(), explicit.Picture(); a != b {
		t.Errorf("compact\n%sexplicit\n%s", a, b)
	}
	for i := range compact.Size() {
		if a, b := compact.Path(int32(i)), explicit.Path(int32(i)); a != b {
			t.Errorf("paths %s and %s", a, b)
		}
	}
}

func TestCommentsEntitiesAndModelsAreRead(t *testing.T) {
	var got []string
	see := useLeaf(func(v values) { got = append(got, v.Text) })
	tree := load(t, registry(t, see),
		"<?xml version=\"1.0\"?>\r\n<!-- a -->\r\n<root BTCPP_format=\"4\">\r\n<BehaviorTree ID=\"A\">\r\n<!-- b "+
			"--><Sequence><!-- c -->\r\n"+
			`<Use text="&lt;a href=&quot;x&quot;&gt; &amp; &#228;&#x1F600;"/><Use text='"'/></Sequence></BehaviorTree>`+
			`<TreeNodesModel><Action ID="Use"><input_port name="text">words</input_port></Action><Nonsense/></TreeNodesModel></root>`, Options{})
	step(t, tree, tree.NewState(), Input{})
	if diff := cmp.Diff([]string{`<a href="x"> & ä😀`, `"`}, got); diff != "" {
		t.Error(diff)
	}
	if len(tree.Warnings) > 0 {
		t.Errorf("warnings: %v", tree.Warnings)
	}
}

func TestChangingTheTextAfterwardsDoesNotChangeTheTree(t *testing.T) {
	text := []byte(file(`<AlwaysSuccess/>`))
	tree, err := someLeaves(t).Load("a.xml", text, Options{})
	if err != nil {
		t.Fatal(err)
	}
	text[0] = 'x'
	if tree.Source[0] != '<' {
		t.Error("Source is the caller's slice")
	}
}

func TestHashTellsTreesApart(t *testing.T) {
	r := someLeaves(t)
	base := load(t, r, file(`<Use text="{a}"/>`), Options{Given: []Port{{Name: "a"}}})
	for name, other := range map[string]*Tree{
		"text":      load(t, r, file(`<Use text="{a}" />`), Options{Given: []Port{{Name: "a"}}}),
		"given key": load(t, r, file(`<Use text="{a}"/>`), Options{Given: []Port{{Name: "b"}, {Name: "a"}}}),
	} {
		if other.Hash == base.Hash {
			t.Errorf("another %s has the same hash", name)
		}
	}
	if again := load(t, r, file(`<Use text="{a}"/>`), Options{Given: []Port{{Name: "a"}}}); again.Hash != base.Hash {
		t.Error("the same tree has another hash")
	}
}
