package bt

import (
	"fmt"
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/behaviour/lineartest"
)

// hostileFiles are files of about n parts each, that a careless loader takes quadratic time or memory for.
var hostileFiles = map[string]func(n int) string{
	"nodes": func(n int) string { return file(`<Sequence>` + strings.Repeat(`<Need text="a"/>`, n) + `</Sequence>`) },
	"keys": func(n int) string {
		return file(`<Sequence>` + each(n, `<Emit text="{k%d}"/>`) + each(n, `<Need text="{k%d}"/>`) + `</Sequence>`)
	},
	"attributes of many elements": func(n int) string {
		return file(`<Sequence>` + strings.Repeat(`<Need`+each(100, ` a%d="1"`)+`/>`, n/100) + `</Sequence>`)
	},
	"attributes of one element": func(n int) string { return file(`<Sequence` + each(n, ` a%d="1"`) + `/>`) },
	"attributes of a subtree": func(n int) string {
		return file(`<Sequence>`+strings.Repeat(`<SubTree ID="A"`+each(500, ` a%d="1"`)+`/>`, n/500)+`</Sequence>`,
			tree("A", `<AlwaysSuccess/>`))
	},
	"trees that nobody uses": func(n int) string {
		return file(`<AlwaysSuccess/>`, each(n, `<BehaviorTree ID="T%d"><Need text="a"/></BehaviorTree>`))
	},
	"nodes that there are not": func(n int) string {
		return file(`<Sequence>` + each(n, `<Neet%d text="a"/>`) + `</Sequence>`)
	},
	"keys that nothing writes": func(n int) string {
		return file(`<Sequence>` + each(900, `<Emit text="{some_long_key_%d}"/>`) +
			each(n, `<Need text="{long_some_key_%d}"/>`) + `</Sequence>`)
	},
	"nesting": func(n int) string {
		return file(strings.Repeat(`<Inverter>`, n) + `<AlwaysSuccess/>` + strings.Repeat(`</Inverter>`, n))
	},
	"deep paths": func(n int) string {
		long := `<Inverter name="` + strings.Repeat("n", maxName) + `">`
		return file(strings.Repeat(long, 150) + `<Sequence>` + strings.Repeat(`<AlwaysSuccess/>`, n) + `</Sequence>` +
			strings.Repeat(`</Inverter>`, 150))
	},
	"a long name": func(n int) string {
		name := strings.Repeat("N", n)
		return file(`<` + name + `>` + strings.Repeat(`<AlwaysSuccess/>`, n) + `</` + name + `>`)
	},
	"a long text":    func(n int) string { return file(`<Need text="` + strings.Repeat("words &amp; ", n) + `"/>`) },
	"a long comment": func(n int) string { return file(`<!--` + strings.Repeat("- ", n) + `--><AlwaysSuccess/>`) },
	"stray text": func(n int) string {
		return file(`<Sequence>` + strings.Repeat(`text<AlwaysSuccess/>`, n) + `</Sequence>`)
	},
	"scripts": func(n int) string {
		return file(`<Sequence>` + strings.Repeat(`<Script code="`+strings.Repeat("a := 1; ", 400)+`"/>`, n/400) +
			`</Sequence>`)
	},
	"nested Parallels": func(n int) string {
		return file(strings.Repeat(`<Parallel>`, 150) + `<Sequence>` + each(n, `<Script code="k%d := 1"/>`) +
			`</Sequence>` + strings.Repeat(`</Parallel>`, 150))
	},
	"reactive tasks": func(n int) string {
		return file(strings.Repeat(`<ReactiveSequence>`, 150) + `<Sequence>` + strings.Repeat(`<Ask question="a"/>`,
			n) + `</Sequence>` + strings.Repeat(`<AlwaysSuccess/></ReactiveSequence>`, 150))
	},
	"large subtrees": func(n int) string {
		return file(`<Sequence>`+strings.Repeat(`<SubTree ID="A"/>`, n)+`</Sequence>`,
			tree("A", `<Need text="`+strings.Repeat("w", n)+`"/>`))
	},
	"large scripts in subtrees": func(n int) string {
		return file(`<Sequence>`+strings.Repeat(`<SubTree ID="A"/>`, n)+`</Sequence>`,
			tree("A", `<Script code="`+strings.Repeat("a := 1; ", 500)+`"/>`))
	},
}

// each is a pattern with the numbers below n.
func each(n int, pattern string) string {
	b := &strings.Builder{}
	for i := range n {
		fmt.Fprintf(b, pattern, i)
	}
	return b.String()
}

func TestHostileFilesLoadOrFailInLinearTime(t *testing.T) {
	r := someLeaves(t)
	for name, make := range hostileFiles {
		t.Run(name, func(t *testing.T) {
			t.Log(lineartest.Check(t, 20, func(n int) func() {
				text := []byte(make(n))
				return func() {
					tr, err := r.Load("test.xml", text, Options{})
					assert.Require(t, (tr == nil) != (err == nil), "%v with error %v", tr, err)
				}
			}))
		})
	}
}

func TestScriptsAreReadAndRunInLinearTimeAndMemory(t *testing.T) {
	keys := map[string]any{"n": 3, "text": "abc", "yes": true}
	for _, part := range []string{"n := 1;", "(", "!", "-", "yes ? ", "n ? n : ", "n + ", "1.", "'a' .. ", "yes && ",
		"n == n == ", "text = text .. 'a';", "@", "' ", "näme := 1;", " ", "1e", "n == 1 ||", "(n) + ("} {
		t.Logf("%q: %s", part, lineartest.Check(t, maxScript/16, func(size int) func() {
			text := strings.Repeat(part, size/len(part))
			return func() {
				for range 300 {
					_, _ = evaluate(t, text, keys) // what is wrong is refused in no more time
				}
			}
		}))
	}
}

// running are bodies of trees in which about so many nodes run at once; a step that took each of them up by looking
// through all would be quadratic.
var running = map[string]func(n int) string{
	"tasks":  func(n int) string { return parallel(n, `<Ask question="a"/>`) },
	"timers": func(n int) string { return parallel(n, `<Delay delay_msec="1000"><AlwaysSuccess/></Delay>`) },
	"halted each time": func(n int) string {
		return `<ReactiveSequence><Delay delay_msec="1000"><AlwaysSuccess/></Delay>` +
			parallel(n, `<Ask question="a"/>`) + `</ReactiveSequence>`
	},
}

// parallel is so many nodes side by side, in groups since a Parallel has 64 at most.
func parallel(n int, node string) string {
	for ; n > 1; n = (n + 63) / 64 {
		node = `<ParallelAll>` + strings.Repeat(node, min(n, 64)) + `</ParallelAll>`
	}
	return node
}

func TestStepsTakeLinearTimeAndMemory(t *testing.T) {
	r := someLeaves(t)
	for name, make := range running {
		t.Run(name, func(t *testing.T) {
			t.Log(lineartest.Check(t, 64, func(n int) func() {
				tr := load(t, r, file(make(n)), Options{})
				return func() {
					for range 30 {
						stepsAndHalt(t, tr)
					}
				}
			}))
		})
	}
}

func stepsAndHalt(t *testing.T, tr *Tree) {
	s := tr.NewState()
	for now := range int64(4) {
		assert.Must(tr.Step(s, Input{Now: now}, nil))(t)
	}
	assert.Must(tr.Halt(s, nil))(t)
}

func TestWhatIsBeyondABoundOfFilesIsRefusedWithTheBound(t *testing.T) {
	long := strings.Repeat("n", maxName+1)
	for name, c := range map[string]struct{ text, want string }{
		"file": {file(`<Need text="` + strings.Repeat("x", maxFile) + `"/>`), "1:1: the file has 8388"},
		"attributes": {hostileFiles["attributes of one element"](maxAttrs + 1),
			"1:76: <Sequence> has 1001 attributes, and an element has at most 1000"},
		"element":   {file(`<` + long + `/>`), "the name of an element is longer than 256 bytes: ‘nnn"},
		"attribute": {file(`<Need ` + long + `="1"/>`), "the name of an attribute is longer than 256 bytes"},
		"node": {file(`<AlwaysSuccess name="` + long + `"/>`),
			"the name of a node or tree is longer than 256 bytes"},
		"key": {file(`<Need text="{` + long + `}"/>`), "the name of a key is longer than 256 bytes"},
		"texts": {hostileFiles["large subtrees"](10_000),
			"the tree has more than 16777216 bytes of attributes, subtrees included"},
		"scripts": {hostileFiles["large scripts in subtrees"](10_000),
			"the tree has more than 16777216 bytes of attributes, subtrees included and those of scripts counted 4 times"},
	} {
		got := problems(t, someLeaves(t), c.text, Options{})
		assert.That(t, len(got) == 1 && strings.Contains(got[0], c.want) && len(got[0]) <= 2*maxMessage,
			"%s: %.300q, want %q", name, got, c.want)
	}
}
