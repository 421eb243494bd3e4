package bt

import (
	"fmt"
	"math"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/behaviour/texttest"
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

// repeats is how a text of load.txt shortens what stands in it many times.
var repeats = regexp.MustCompile(`⟨(\d+)×(.*?)⟩`)

// loadCase is a scenario of load.txt, which says what its lines mean.
type loadCase struct {
	text   string // with marks
	opt    Options
	want   []string // "message // hint"; a warning begins with "warning "
	breaks string
	leaves map[string]string // by key; "nothing": it was not written
}

func readLoadCase(t *testing.T, lines []texttest.Line) (c loadCase) {
	t.Helper()
	c.leaves = map[string]string{}
	texts := map[string][]string{}
	for _, l := range lines {
		if l.Deep {
			c.want = append(c.want, strings.TrimSpace(l.Text))
			continue
		}
		switch l.Words {
		case "main", "file", "tree":
			text := strings.TrimPrefix(strings.TrimPrefix(l.Text, l.Words), " ")
			texts[l.Words] = append(texts[l.Words], text)
		case "runs":
			c.opt.Main = l.Rest
		case "given":
			c.opt.Given = append(c.opt.Given, Port{Name: l.Rest, Type: typeInt})
		case "wants", "may want":
			c.opt.Wanted = append(c.opt.Wanted, Port{Name: l.Rest, Type: reflect.TypeFor[string](),
				Optional: l.Words == "may want"})
		case "breaks":
			c.breaks = l.Rest
		case "leaves":
			key, value, _ := strings.Cut(l.Rest, " ")
			c.leaves[key] = value
		case "fine":
		default:
			t.Fatalf("line %d says nothing that is known: %s", l.At, l.Text)
		}
	}
	c.text = strings.Join(texts["file"], "\n")
	if c.text == "" {
		c.text = file(strings.Join(texts["main"], "\n"), texts["tree"]...)
	}
	c.text = repeats.ReplaceAllStringFunc(c.text, func(short string) string {
		m := repeats.FindStringSubmatch(short)
		n := assert.Must(strconv.Atoi(m[1]))(t)
		return strings.Repeat(m[2], n)
	})
	c.text = strings.NewReplacer("␍", "\r", "␉", "\t").Replace(c.text)
	return c
}

// check wants the problems at their places.
func (c *loadCase) check(t *testing.T) {
	t.Helper()
	text, places := marked(c.text)
	assert.Require(t, len(places) == len(c.want), "the case has %d marks for %d problems", len(places), len(c.want))
	var want []string
	for i, w := range c.want {
		if rest, warning := strings.CutPrefix(w, "warning "); warning {
			want = append(want, "warning "+places[i]+rest)
		} else {
			want = append(want, places[i]+w)
		}
	}
	diff := cmp.Diff(want, problems(t, someLeaves(t), text, c.opt))
	assert.That(t, diff == "", "problems (-want +got):\n%s\nin %s", diff, text)
}

// checkStep wants the first step to break at the mark.
func (c *loadCase) checkStep(t *testing.T) {
	t.Helper()
	text, places := marked(c.text)
	half := Func("Half", "", func(_ noPorts, out *struct {
		Ratio float64 `port:"ratio"`
	}) error {
		out.Ratio = math.Inf(1)
		return nil
	})
	count := Func("Count", "", func(_ noPorts, out *struct {
		N int `port:"n"`
	}) error {
		out.N++
		return nil
	})
	r := registry(t, emitLeaf(&values{Text: "t"}), useLeaf(func(values) {}), needLeaf(), half, count)
	tree := load(t, r, text, Options{Given: []Port{{Name: "words"}, {Name: "n", Type: typeInt},
		{Name: "b", Type: typeBool}, {Name: "x", Type: reflect.TypeFor[float64]()}}})
	s := tree.NewState()
	set(t, tree, s, "x", 2.5)
	_, err := tree.Step(s, Input{}, nil)
	want := "test.xml:" + places[0] + c.breaks
	assert.That(t, err != nil && err.Error() == want, "the step gives %v\nwant %s", err, want)
}

// checkKeys wants keys to hold what the first step leaves in them.
func (c *loadCase) checkKeys(t *testing.T) {
	t.Helper()
	tree := load(t, someLeaves(t), c.text, c.opt)
	s := tree.NewState()
	step(t, tree, s, Input{})
	for key, want := range c.leaves {
		got, written := tree.Get(s, key)
		if !written {
			got = "nothing"
		}
		assert.That(t, fmt.Sprint(got) == want, "key %s holds %v, want %s", key, got, want)
	}
}

func TestTreeFilesAreLoadedOrRefusedAtTheirPlaces(t *testing.T) {
	known := []string{"main", "file", "tree", "runs", "given", "wants", "may want", "breaks", "leaves", "fine"}
	texttest.PlayFile(t, "testdata/load.txt", known, func(t *testing.T, lines []texttest.Line) {
		switch c := readLoadCase(t, lines); {
		case c.breaks != "":
			c.checkStep(t)
		case len(c.leaves) > 0:
			c.checkKeys(t)
		default:
			c.check(t)
		}
	})
}

func TestAmpersandInAnAttributeIsExplained(t *testing.T) {
	for _, script := range []string{"a && b", "a &and; b", "a < b"} {
		got := problems(t, someLeaves(t), file(`<ScriptCondition code="`+script+`"/>`), Options{})
		assert.That(t, len(got) == 1 && strings.HasSuffix(got[0], "// in XML, write &amp; for & and &lt; for <"),
			"%s: %q", script, got)
	}
}

func TestNamedMainTreeIsTheOneThatRuns(t *testing.T) {
	text := `<root BTCPP_format="4" main_tree_to_execute="A"><BehaviorTree ID="A"><AlwaysSuccess/></BehaviorTree><BehaviorTree ID="B"><AlwaysFailure/></BehaviorTree></root>`
	for main, want := range map[string]Status{"": Success, "A": Success, "B": Failure} {
		tree := load(t, someLeaves(t), text, Options{Main: main})
		assert.Equalf(t, step(t, tree, tree.NewState(), Input{}).Status, want, "main tree %q", main)
	}
}

func TestLoadErrorListsEveryProblemWithPlaceAndHint(t *testing.T) {
	_, err := someLeaves(t).Load("trees/a.xml", []byte(file(`<Sequence><Nothing/><Need txt="1" text="a"/></Sequence>`)),
		Options{})
	want := "trees/a.xml:1:86: there is no node <Nothing>\n    ‘sibyl tree models’ lists the nodes there are\n" +
		"trees/a.xml:1:102: Need has no port txt\n    did you mean text?"
	assert.That(t, err != nil && err.Error() == want, "got\n%v\nwant\n%s", err, want)
	warning := Problem{File: "a.xml", Line: 2, Col: 3, Message: "m", Warning: true}
	got := warning.String()
	assert.That(t, got == "a.xml:2:3: warning: m", "a warning reads %q", got)
}

func TestExplicitFormIsTheSameNode(t *testing.T) {
	compact := load(t, someLeaves(t),
		file(`<Fallback name="f"><Inverter><Need text="a"/></Inverter><Ask question="b"/></Fallback>`), Options{})
	explicit := load(t, someLeaves(t),
		file(`<Control ID="Fallback" name="f"><Decorator ID="Inverter"><Condition ID="Need" text="a"/></Decorator><Action ID="Ask" question="b"/></Control>`), Options{})
	a, b := compact.Picture(), explicit.Picture()
	assert.That(t, a == b, "compact\n%sexplicit\n%s", a, b)
	for i := range compact.Size() {
		a, b := compact.Path(int32(i)), explicit.Path(int32(i))
		assert.That(t, a == b, "paths %s and %s", a, b)
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
	assert.Same(t, []string{`<a href="x"> & ä😀`, `"`}, got)
	assert.That(t, len(tree.Warnings) == 0, "warnings: %v", tree.Warnings)
}

func TestHashTellsTreesApart(t *testing.T) {
	r := someLeaves(t)
	base := load(t, r, file(`<Use text="{a}"/>`), Options{Given: []Port{{Name: "a"}}})
	for name, other := range map[string]*Tree{
		"text":      load(t, r, file(`<Use text="{a}" />`), Options{Given: []Port{{Name: "a"}}}),
		"given key": load(t, r, file(`<Use text="{a}"/>`), Options{Given: []Port{{Name: "b"}, {Name: "a"}}}),
	} {
		assert.That(t, other.Hash != base.Hash, "another %s has the same hash", name)
	}
	again := load(t, r, file(`<Use text="{a}"/>`), Options{Given: []Port{{Name: "a"}}})
	assert.That(t, again.Hash == base.Hash, "the same tree has another hash")
}

func TestChangingTheTextAfterwardsDoesNotChangeTheTree(t *testing.T) {
	text := []byte(file(`<AlwaysSuccess/>`))
	tree := assert.Must(someLeaves(t).Load("a.xml", text, Options{}))(t)
	text[0] = 'x'
	assert.That(t, tree.Source[0] == '<', "Source is the caller's slice")
}
