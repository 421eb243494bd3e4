package bt

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
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
			e.slot = c.root.slot(e.key)
		}
		for _, k := range e.kids {
			connect(k)
		}
	}
	for _, e := range s.stmts {
		connect(e)
	}
	for _, key := range keysOf(keys) {
		tr.slots[c.root.slot(key)].typ = typeIfNotBasic(keys[key])
	}
	state := tr.NewState()
	for key, v := range keys {
		state.Slots[tr.rootKeys[key]] = v
	}
	x := tr.enter(state, Input{}, nil)
	v := x.script(0, s)
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
	return map[string]any{"n": 3, "big": int64(1) << 40, "x": 2.5, "yes": true, "text": "abc", "num": "10", "mood": mood("low"), "digits": mood("12"), "näme": 1.0, "_p": 4.0}
}

func checkScripts(t *testing.T, cases map[string]any) {
	t.Helper()
	for text, want := range cases {
		got, err := evaluate(t, text, scriptKeys())
		if want == nil {
			if err == nil {
				t.Errorf("%s gives %v", text, got)
			}
			continue
		}
		if err != nil || got != want {
			t.Errorf("%s = %#v, want %#v (%v)", text, got, want, err)
		}
	}
}

func TestScriptsReckonWithDoubles(t *testing.T) {
	checkScripts(t, map[string]any{
		"1 + 2 * 3":           7.0,
		"(1 + 2) * 3":         9.0,
		"10 - 4 - 3":          3.0,
		"100 / 5 / 2":         10.0,
		"-2 * -3":             6.0,
		"- -2":                2.0,
		"2 - -2":              4.0,
		"1.5e3 + 1e-1 + 1E+1": 1510.1,
		"n + x":               5.5,
		"big / 1024":          float64(1 << 30),
		"näme + _p":           5.0,
		"@n":                  3.0,
	})
}

func TestScriptsCompareAndChoose(t *testing.T) {
	checkScripts(t, map[string]any{
		"1 < 2":                      true,
		"2 <= 2 && 3 >= 3":           true,
		"1 > 2 || 2 < 1":             false,
		"1 == 1.0":                   true,
		"1 < 1 || 1 > 1":             false,
		"1 <= 1 && 1 >= 1":           true,
		"'a' < 'a' || 'a' > 'a'":     false,
		"'a' <= 'a' && 'a' >= 'a'":   true,
		"'a' == 'b'":                 false,
		"'a' != 'b'":                 true,
		"'a' < 'b'":                  true,
		"'b' <= 'a'":                 false,
		"'b' > 'a'":                  true,
		"'a' >= 'b'":                 false,
		"text == 'abc'":              true,
		"mood == 'low'":              true,
		"num == 10":                  true, // a text that is a number compares as one
		"num + 1":                    11.0,
		"num + '1'":                  "101",
		"digits .. ''":               "12",
		"true == 1":                  true,
		"yes == false":               false,
		"'yes' == true":              false,
		"!true || !false":            true,
		"!!yes":                      true,
		"1 && 'x' == 'x'":            true,
		"false && unwritten":         false, // the right side is not looked at
		"true || unwritten":          true,
		"1 + 1 == 2 && 2 * 2 == 4":   true,
		"1 < 2 == true":              true,
		"n > 2 ? 'many' : 'few'":     "many",
		"false ? 1 : false ? 2 : 3":  3.0,
		"true ? unwritten2 := 1 : 2": nil, // not a statement: refused
	})
}

func TestScriptsJoinTextsAndAssign(t *testing.T) {
	checkScripts(t, map[string]any{
		"'a' .. 'b' .. 1 + 1":          "ab2",
		"1..2":                         "12",
		"1.5 .. true":                  "1.5true",
		"1000000 .. ''":                "1000000",
		"1e21 .. ''":                   "1e+21",
		"0.0000001 .. ''":              "0.0000001",
		"''":                           "",
		"'\x00'":                       "\x00",
		"a := 1; b := a + 1; a + b":    3.0,
		"a := 2":                       2.0,
		" ; ":                          nil,
		"a := 1;":                      1.0,
		"a := 1; a += 2; a":            3.0,
		"a := 9; a -= 2; a *= 3; a":    21.0,
		"a := 9; a /= 2; a":            4.5,
		"s := 'a'; s += 'b'; s":        "ab",
		"n += 1; n":                    4.0,
		"x = 7; x":                     7.0,
		"a := true; a = 'now text'; a": "now text",
	})
}

func TestScriptErrorsSayWhatIsWrong(t *testing.T) {
	keys := map[string]any{"n": 3, "list": []string{"a"}, "text": "abc"}
	for text, want := range map[string]string{
		"1 / 0":        "‘1 / 0’ is no finite number",
		"1e308 * 10":   "‘1e+308 * 10’ is no finite number",
		"'a' - 1":      "‘a - 1’ wants two numbers",
		"'a' + 1":      "‘a + 1’ wants two numbers",
		"'a' < 1":      "‘a < 1’ wants two numbers",
		"-'a'":         "‘-’ wants a number, not ‘a’",
		"!'a'":         "‘a’ is neither true nor false",
		"'a' && true":  "‘a’ is neither true nor false",
		"true && 'a'":  "‘a’ is neither true nor false",
		"'a' ? 1 : 2":  "‘a’ is neither true nor false",
		"who + 1":      "key {who} was not written yet",
		"who = 1":      "key {who} does not exist: ‘:=’ creates it",
		"list == list": "key {list}: []string is not a text, number or bool",
		"list += 'b'":  "[]string is not a text, number or bool",
		"n = 1.5":      "key {n}: 1.5 does not fit int",
		"text = 1":     "key {text}: 1 does not fit std::string",
		"text -= 1":    "‘abc - 1’ wants two numbers",
	} {
		_, err := evaluate(t, text, keys)
		if err == nil || !strings.HasSuffix(err.Error(), "script ‘"+text+"’: "+want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

func TestScriptSyntaxErrorsHaveTheirPlace(t *testing.T) {
	for text, want := range map[string]string{
		"":                               "0: the script is empty",
		"  ":                             "2: the script is empty",
		"1 +":                            "3: a value is missing",
		"(1":                             "2: a ‘)’ is missing",
		"1 2":                            "2: unexpected ‘2’",
		"1 := 2":                         "2: ‘:=’ wants a key on its left",
		"a + b = 2":                      "6: ‘=’ wants a key on its left",
		"true := 1":                      "5: ‘:=’ wants a key on its left",
		"a ? 1":                          "5: ‘?’ wants a ‘:’",
		"a = b = c":                      "6: unexpected ‘=’",
		"a := 'x":                        "5: a text that begins with ' does not end",
		"a & b":                          "2: ‘&’ means nothing here",
		"ä & b":                          "3: ‘&’ means nothing here",
		"a := @":                         "5: ‘@’ wants a key",
		"@ := 1":                         "0: ‘@’ wants a key",
		"1e999":                          "0: ‘1e999’ is not a number",
		"1.2.3":                          "3: ‘.’ means nothing here",
		"2x":                             "1: unexpected ‘x’",
		"a\xff := 1":                     "1: ‘\ufffd’ means nothing here",
		"a; ; b":                         "3: a value is missing",
		strings.Repeat("(", maxScript):   "4096: a value is missing",
		strings.Repeat("-", maxScript+1): "0: the script is longer than 4096 bytes",
	} {
		s, err := parseScript(text)
		var got string
		if e, ok := err.(*scriptError); ok { //nolint:errorlint // its exact type is the promise
			got = fmt.Sprintf("%d: %s", e.pos, e.msg)
		}
		if got != want || s != nil {
			t.Errorf("%.20q: %q, want %q", text, got, want)
		}
	}
}
