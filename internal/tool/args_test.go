package tool

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sibyl/internal/behaviour/assert"
)

type sampleArgs struct {
	Query string   `json:"query" doc:"words to look for" max:"9"`
	Limit int      `json:"limit,omitempty" doc:"hits" min:"1" max:"50" default:"10"`
	From  int      `json:"from,omitempty" min:"0"`
	Terms []string `json:"terms,omitempty"`
	Mode  string   `json:"mode,omitempty" enum:"fast,slow,both"`
}

func giveArguments(_ context.Context, _ Call, args sampleArgs) (Result, error) {
	return Result{}.WithData(args)
}

// sampleTool is a tool whose result is its arguments.
func sampleTool(spec Spec) Tool { return New(spec, giveArguments) }

func TestArgumentsAreReadStrictly(t *testing.T) {
	const hint = "arguments are: query, limit, from, terms, mode"
	for raw, want := range map[string]string{
		`{"querry":"x"}`:               "arguments have a name that is not known",
		`{"Query":"x"}`:                "arguments have a name that is not known",
		`{"query":"x","limit":"3"}`:    "limit must be a whole number from 1 to 50",
		`{"query":"x","limit":1.5}`:    "limit must be a whole number from 1 to 50",
		`{"query":"x","limit":51}`:     "limit must be a whole number from 1 to 50",
		`{"query":"x","terms":"a"}`:    "terms must be a list, each a text",
		`{"query":"x","mode":"quick"}`: "mode must be fast, slow or both",
		`{"query":"x","from":1e300}`:   "from must be a whole number from 0 on",
		`{"query":"0123456789"}`:       "query has 10 characters; 9 at most",
		`["x"]`:                        "arguments must be a JSON object",
		`{"query":`:                    "arguments must be a JSON object",
		`{"query":"x"} {"query":"y"}`:  "arguments must be a JSON object",
		`null`:                         "query is missing",
		``:                             "query is missing",
		`{"query":" \n"}`:              "query is missing",
	} {
		_, err := sampleTool(Spec{Effect: Repeatable}).Call(t.Context(), Call{Args: json.RawMessage(raw)})
		var known *Error
		assert.That(t, errors.As(err, &known) && known.Kind == InvalidArgs && strings.Contains(known.Message, want) &&
			known.Hint == hint, "%s: %v, want %q", raw, err, want)
	}
}

func TestArgumentsLeftOutHaveTheirDefaults(t *testing.T) {
	for raw, want := range map[string]sampleArgs{
		`{"query":"x","limit":3,"terms":["a"],"mode":"both"}`: {Query: "x", Limit: 3, Terms: []string{"a"},
			Mode: "both"},
		`{"query":"x"}`: {Query: "x", Limit: 10},
		`{"query":"x","limit":null,"from":0,"terms":null,"mode":""}`: {Query: "x", Limit: 10},
		`{"query":"ööööööööö"}`:                                      {Query: "ööööööööö", Limit: 10},
	} {
		res, err := sampleTool(Spec{Effect: Repeatable}).Call(t.Context(), Call{Args: json.RawMessage(raw)})
		var got sampleArgs
		assert.That(t, err == nil && json.Unmarshal(res.Data, &got) == nil && cmp.Equal(got, want),
			"%s: %+v (%v), want %+v", raw, got, err, want)
	}
}

func TestSchemaIsShortAndSaysWhatIsDecoded(t *testing.T) {
	const want = `{"type":"object","properties":{` +
		`"query":{"type":"string","description":"words to look for","maxLength":9},` +
		`"limit":{"type":"integer","description":"hits","default":10,"minimum":1,"maximum":50},` +
		`"from":{"type":"integer","minimum":0},"terms":{"type":"array","items":{"type":"string"}},` +
		`"mode":{"type":"string","enum":["fast","slow","both"]}},"required":["query"],"additionalProperties":false}`
	assert.Same(t, want, string(sampleTool(Spec{}).Spec().Schema))
}

func TestOnlyToolsWithFoundAreFinders(t *testing.T) {
	_, is := sampleTool(Spec{Effect: Once}).(Finder)
	assert.That(t, !is, "a tool without found is a Finder")
	f := NewFinder(Spec{Effect: Once}, giveArguments, func(_ context.Context, c Call, args sampleArgs) (Result, bool,
		error) {
		return Result{Text: args.Query}, c.Key == "done", nil
	}, func(_ context.Context, _ Call, args sampleArgs) (Change, error) {
		return Change{Now: args.Query}, nil
	}).(Finder)
	for _, c := range []struct {
		key, args string
		was       bool
	}{{"done", `{"query":"x"}`, true}, {"begun", `{"query":"x"}`, false}, {"done", `{}`, false},
		{"", `{"query":"x"}`, false}} {
		res, was, err := f.Found(t.Context(), Call{Key: c.key, Args: json.RawMessage(c.args)})
		assert.That(t, err == nil && was == c.was && (!was || res.Text == "x"),
			"key %q, %s: %v, %q, %v", c.key, c.args, was, res.Text, err)
	}
	_, err := f.(Tool).Call(t.Context(), Call{Args: json.RawMessage(`{"query":"x"}`)})
	assert.That(t, err != nil && strings.Contains(err.Error(), "without an idempotency key"),
		"a write without a key: %v", err)
}

func TestErrorsOfACallHaveAKind(t *testing.T) {
	plain := errors.New("broken")
	for want, cause := range map[Kind]error{Cancelled: context.Canceled, Timeout: context.DeadlineExceeded,
		Failed: plain, Denied: Errorf(Denied, "", "no")} {
		failing := New(Spec{}, func(context.Context, Call, struct{}) (Result, error) { return Result{}, cause })
		_, err := failing.Call(t.Context(), Call{})
		var known *Error
		assert.That(t, errors.As(err, &known) && known.Kind == want && errors.Is(err, cause),
			"%v becomes %#v, want kind %s", cause, err, want)
	}
}

func TestResultTextIsCutBetweenLines(t *testing.T) {
	texts := New(Spec{}, func(context.Context, Call, struct{}) (Result, error) {
		return Result{Text: strings.Repeat(strings.Repeat("x", 99)+"\n", 1000)}, nil
	})
	res, err := texts.Call(t.Context(), Call{})
	assert.That(t, err == nil && len(res.Text) <= MaxText && res.Truncated &&
		strings.HasSuffix(res.Text, "x\n(the rest is left out)\n"),
		"%d bytes, truncated %v, %v, ends %q", len(res.Text), res.Truncated, err, res.Text[len(res.Text)-40:])
}
