package replay

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sibyl/internal/behaviour/assert"
)

func TestChangesAreShownWhereTheyBegin(t *testing.T) {
	long := strings.Repeat("ä word ", 60)
	for name, c := range map[string]struct {
		was, would string
		want       []Change
	}{
		"the same": {`{"a":[1,{"b":null}]}`, `{ "a": [1, {"b": null}] }`, nil},
		"a number": {`{"a":1}`, `{"a":2}`, []Change{{Path: "a", Was: "1", Would: "2"}}},
		"a large number": {`12345678901234567890`, `12345678901234567891`,
			[]Change{{Was: "12345678901234567890", Would: "12345678901234567891"}}},
		"another type":        {`{"a":"1"}`, `{"a":1}`, []Change{{Path: "a", Was: `"1"`, Would: "1"}}},
		"null is not nothing": {`{"a":null}`, `{}`, []Change{{Path: "a", Was: "null"}}},
		"deep": {`{"t":[{"h":"x"},{"h":"y"}]}`, `{"t":[{"h":"x"},{"h":"z"}]}`,
			[]Change{{Path: "t[1].h", Was: `"y"`, Would: `"z"`}}},
		"a list grows": {`{"t":[{"h":1}]}`, `{"t":[{"h":1},{"h":2}]}`,
			[]Change{{Path: "t[1].h", Would: "2"}}},
		"a reason gets a code": {`{"why":"no"}`, `{"why":"no","why_code":"a.no","why_values":{"n":{"why":"1"}}}`, nil},
		"another code": {`{"why_code":"a.no"}`, `{"why_code":"a.yes"}`,
			[]Change{{Path: "why_code", Was: `"a.no"`, Would: `"a.yes"`}}},
		"a list of words": {`["a","b"]`, `["b"]`, []Change{{Was: `["a","b"]`, Would: `["b"]`}}},
		"far inside a text": {`"` + long + `x"`, `"` + long + `y"`,
			[]Change{{Was: `…d ä word ä word ä word ä word x"`, Would: `…d ä word ä word ä word ä word y"`}}},
		"a text that gets long": {`"a"`, `"` + long + `"`,
			[]Change{{Was: `"a"`, Would: `"` + string([]rune(long)[:118]) + "…"}}},
	} {
		t.Run(name, func(t *testing.T) {
			got := changesOf(json.RawMessage(c.was), json.RawMessage(c.would))
			assert.NoDiff(t, cmp.Diff(c.want, got), "changes (-want +got)")
		})
	}
}
