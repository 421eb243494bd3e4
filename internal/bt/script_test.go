package bt

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/behaviour/texttest"
)

// evaluate runs a script over keys of the root scope and gives its last value.
func evaluate(t testing.TB, text string, keys map[string]any) (any, error) {
	t.Helper()
	s, err := parseScript(text)
	if err != nil {
		return nil, err
	}
	tr := &Tree{nodes: []node{{details: &details{parent: -1}}}, rootKeys: map[string]int32{}}
	c := newCompiler(&source{}, &Leaves{}, nil, tr)
	var connect func(*expr)
	connect = func(e *expr) {
		if e.key != "" {
			e.slot = c.root.slotOf(e.key)
		}
		for _, k := range e.kids {
			connect(k)
		}
	}
	for _, e := range s.stmts {
		connect(e)
	}
	for _, key := range keysOf(keys) {
		tr.slots[c.root.slotOf(key)].typ = typeIfNotBasic(keys[key])
	}
	state := tr.NewState()
	for key, v := range keys {
		state.Slots[tr.rootKeys[key]] = v
	}
	x := tr.beginStep(state, Input{}, nil)
	v := x.evalScript(0, s)
	return v.value(), x.err
}

func typeIfNotBasic(v any) reflect.Type {
	if _, ok := v.(float64); ok {
		return nil
	}
	return reflect.TypeOf(v)
}

type mood string

// scriptKeys are what the scripts of the tests below can read.
func scriptKeys() map[string]any {
	return map[string]any{"n": 3, "big": int64(1) << 40, "x": 2.5, "yes": true, "text": "abc", "num": "10",
		"mood": mood("low"), "digits": mood("12"), "näme": 1.0, "_p": 4.0,
		"list": []string{"a"}}
}

func TestScripts(t *testing.T) {
	texttest.PlayFile(t, "testdata/scripts.txt", []string{"fails", "refused"}, func(t *testing.T, lines []texttest.Line) {
		for _, l := range lines {
			script, want, _ := strings.Cut(l.Rest, " ⇒ ")
			if quoted, err := strconv.Unquote(script); err == nil && script[0] == '"' {
				script = quoted
			}
			switch value, err := evaluate(t, script, scriptKeys()); l.Words {
			case "fails":
				assert.That(t, err != nil && strings.HasSuffix(err.Error(), "script ‘"+script+"’: "+want),
					"line %d: %v, want %s", l.At, err, want)
			case "refused":
				wantRefused(t, script, want)
			default:
				got := fmt.Sprintf("%#v", value)
				assert.That(t, (want != "error" || err != nil) && (want == "error" || (err == nil && got == want)),
					"line %d: %s = %s, %v", l.At, script, got, err)
			}
		}
	})
}

func TestScriptThatIsDeepOrLongIsRefused(t *testing.T) {
	wantRefused(t, strings.Repeat("(", maxScript), "4096: a value is missing")
	wantRefused(t, strings.Repeat("-", maxScript+1), "0: the script is longer than 4096 bytes")
}

// wantRefused wants a script that can't be read, with the place and what is wrong there.
func wantRefused(t *testing.T, text, want string) {
	t.Helper()
	s, err := parseScript(text)
	var got string
	if e, ok := err.(*scriptError); ok { //nolint:errorlint // its exact type is the promise
		got = fmt.Sprintf("%d: %s", e.pos, e.msg)
	}
	assert.That(t, got == want && s == nil, "%.20q: %q, want %q", text, got, want)
}
