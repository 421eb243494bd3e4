package code

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"sibyl/internal/tool"
)

func TestWrongArgumentsAreNamedWithTheRightOnes(t *testing.T) {
	r, _ := tree(t, map[string]string{"a.go": "package a\n"})
	for _, c := range []struct{ tool, args, want string }{
		{"code_search", `{"quest":"x"}`, `there is no argument "quest" (arguments are: query, terms, path, lang, regex, limit)`},
		{"code_search", `{"query":7}`, "query must be a string, not a number"},
		{"code_search", `{"terms":"x"}`, "terms must be a list of strings, not a string"},
		{"code_search", `{"query":"x","regex":"yes"}`, "regex must be true or false, not a string"},
		{"code_search", `{"query":"x","limit":1.5}`, "limit must be a whole number, not a number 1.5"},
		{"code_search", `{"query":"x","limit":51}`, "limit is 51 (give 1 to 50, or leave it out for 10)"},
		{"code_search", `{"query":"x","limit":-1}`, "limit is -1"},
		{"code_search", `["x"]`, "must be one JSON object, not array"},
		{"code_search", `{"query":"x"} {}`, "there is more after the arguments"},
		{"code_search", `{"query":`, "not valid JSON"},
		{"code_search", `{}`, "there is no word to look for"},
		{"code_search", ``, "there is no word to look for"},
		{"code_search", `{"query":"?!"}`, "there is no word to look for"},
		{"code_search", `{"query":"(","regex":true}`, "no regular expression"},
		{"code_search", `{"query":"x*","regex":true}`, "matches every line"},
		{"code_search", `{"terms":["x"],"regex":true}`, "query is the one expression"},
		{"code_search", `{"query":"` + strings.Repeat("word ", 1000) + `"}`, "query and terms have 5000 bytes"},
		{"code_symbol", `{"symbol":" "}`, "symbol is missing"},
		{"code_symbol", `{"symbol":"Server."}`, "there is no symbol"},
		{"repo_map", `{"depth":9}`, "depth is 9 (give 1 to 8, or leave it out for 2)"},
	} {
		_, err := call(t, r, c.tool, c.args)
		if kind(err) != tool.InvalidArgs || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s: %v, want %q", c.tool, c.args, err, c.want)
		}
	}
}

// TestSchemasSayWhatIsDecoded keeps the schema that models see and the decoding together.
func TestSchemasSayWhatIsDecoded(t *testing.T) {
	r, dir := tree(t, map[string]string{"a.go": "package a\n"})
	commitAll(t, dir)
	good := map[string]string{
		"code_search": `{"query":"alpha","terms":["beta"],"path":".","lang":"go","regex":false,"limit":3}`, "code_symbol": `{"symbol":"a","path":"."}`,
		"code_read": `{"path":"a.go","start":1,"end":1}`, "repo_map": `{"path":".","depth":1}`,
		"code_history": `{"what":"log","path":".","limit":1}`,
	}
	for _, tl := range r.Tools() {
		spec := tl.Spec()
		if spec.Source != tool.Code || spec.Effect != tool.Repeatable || spec.Foreign || spec.Description == "" {
			t.Errorf("%+v", spec)
		}
		var doc any
		if err := json.Unmarshal(spec.Schema, &doc); err != nil {
			t.Fatal(err)
		}
		c := jsonschema.NewCompiler()
		if err := c.AddResource("mem:///schema.json", doc); err != nil {
			t.Fatal(err)
		}
		schema, err := c.Compile("mem:///schema.json")
		if err != nil {
			t.Fatalf("%s: %v", spec.Name, err)
		}
		var args map[string]any
		if err := json.Unmarshal([]byte(good[spec.Name]), &args); err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(args); err != nil {
			t.Errorf("%s: good arguments are refused: %v", spec.Name, err)
		}
		if _, err := call(t, r, spec.Name, good[spec.Name]); err != nil {
			t.Errorf("%s: %v", spec.Name, err)
		}
		args["unknown"] = 1
		if schema.Validate(args) == nil {
			t.Errorf("%s: an unknown argument passes", spec.Name)
		}
	}
}

func TestEndedContextStopsEveryTool(t *testing.T) {
	r, _ := tree(t, map[string]string{"a.go": "package a\n"})
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	late, cancelLate := context.WithDeadline(context.Background(), time.Unix(0, 0))
	defer cancelLate()
	for _, tl := range r.Tools() {
		args := map[string]string{
			"code_search": `{"query":"alpha"}`, "code_symbol": `{"symbol":"a"}`, "code_read": `{"path":"a.go"}`, "repo_map": `{}`, "code_history": `{}`,
		}[tl.Spec().Name]
		if _, err := tl.Call(cancelled, tool.Call{Args: json.RawMessage(args)}); kind(err) != tool.Cancelled {
			t.Errorf("%s, cancelled: %v", tl.Spec().Name, err)
		}
		if _, err := tl.Call(late, tool.Call{Args: json.RawMessage(args)}); kind(err) != tool.Timeout {
			t.Errorf("%s, too late: %v", tl.Spec().Name, err)
		}
	}
}
