package tool

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type sampleArgs struct {
	Query string   `json:"query" doc:"words to look for" max:"9"`
	Limit int      `json:"limit,omitempty" doc:"hits" min:"1" max:"50" default:"10"`
	From  int      `json:"from,omitempty" min:"0"`
	Terms []string `json:"terms,omitempty"`
	Mode  string   `json:"mode,omitempty" enum:"fast,slow,both"`
}

// sample is a tool whose result is its arguments.
func sample(spec Spec, options ...Option[sampleArgs]) Tool {
	spec.Name = "sample"
	return New(spec, func(_ context.Context, _ Call, args sampleArgs) (Result, error) { return Result{}.WithData(args) }, options...)
}

func TestArgumentsAreReadStrictly(t *testing.T) {
	const names = "query, limit, from, terms, mode"
	for _, c := range []struct{ raw, err, hint string }{
		{`{"querry":"x"}`, `there is no argument "querry"`, names},
		{`{"Query":"x"}`, `there is no argument "Query"`, names},
		{`{"limit":"3"}`, "limit must be a whole number, not a string", names},
		{`{"limit":1.5}`, "limit must be a whole number, not a number 1.5", names},
		{`{"terms":"a"}`, "terms must be a list of strings, not a string", names},
		{`["x"]`, "must be one JSON object, not array", names},
		{`{"query":`, "not valid JSON", names},
		{`{"query":"x"} {"query":"y"}`, "there is more after the arguments", "one JSON object"},
		{``, "query is missing", "words to look for"},
		{`{"query":" \n"}`, "query is missing", "words to look for"},
		{`{"query":"0123456789"}`, "query has 10 characters", "give at most 9 characters"},
		{`{"query":"x","limit":0}`, "limit is 0", "give 1 to 50, or leave it out for 10"},
		{`{"query":"x","limit":51}`, "limit is 51", "give 1 to 50"},
		{`{"query":"x","from":-1}`, "from is -1", "give at least 0"},
		{`{"query":"x","mode":"quick"}`, `mode is "quick"`, "use fast, slow or both"},
	} {
		_, err := sample(Spec{Effect: Repeatable}).Call(t.Context(), Call{Args: json.RawMessage(c.raw)})
		var known *Error
		if !errors.As(err, &known) || known.Kind != InvalidArgs || !strings.Contains(known.Message, c.err) || !strings.Contains(known.Hint, c.hint) {
			t.Errorf("%s: %v, want %q with the hint %q", c.raw, err, c.err, c.hint)
		}
	}
}

func TestArgumentsLeftOutHaveTheirDefaults(t *testing.T) {
	for raw, want := range map[string]sampleArgs{
		`{"query":"x","limit":3,"terms":["a"],"mode":"both"}`: {Query: "x", Limit: 3, Terms: []string{"a"}, Mode: "both"},
		`{"query":"x"}`: {Query: "x", Limit: 10},
		`{"query":"x","limit":null,"from":0,"terms":null,"mode":""}`: {Query: "x", Limit: 10},
		`{"query":"ööööööööö"}`:                                      {Query: "ööööööööö", Limit: 10},
	} {
		res, err := sample(Spec{Effect: Repeatable}).Call(t.Context(), Call{Args: json.RawMessage(raw)})
		var got sampleArgs
		if err != nil || json.Unmarshal(res.Data, &got) != nil || !cmp.Equal(got, want) {
			t.Errorf("%s: %+v (%v), want %+v", raw, got, err, want)
		}
	}
}

func TestSchemaIsShortAndSaysWhatIsDecoded(t *testing.T) {
	const want = `{"type":"object","properties":{` +
		`"query":{"type":"string","description":"words to look for","maxLength":9},` +
		`"limit":{"type":"integer","description":"hits","default":10,"minimum":1,"maximum":50},` +
		`"from":{"type":"integer","minimum":0},"terms":{"type":"array","items":{"type":"string"}},` +
		`"mode":{"type":"string","enum":["fast","slow","both"]}},"required":["query"],"additionalProperties":false}`
	if diff := cmp.Diff(want, string(sample(Spec{}).Spec().Schema)); diff != "" {
		t.Error(diff)
	}
}

func TestOnlyToolsWithFoundAreFinders(t *testing.T) {
	if _, is := sample(Spec{Effect: Once}).(Finder); is {
		t.Error("a tool without found is a Finder")
	}
	f, is := sample(Spec{Effect: Once}, WithFound(func(_ context.Context, c Call, args sampleArgs) (Result, bool, error) {
		return Result{Text: args.Query}, c.Key == "done", nil
	})).(Finder)
	if !is {
		t.Fatal("a tool with found is no Finder")
	}
	for _, c := range []struct {
		key, args string
		was       bool
	}{{"done", `{"query":"x"}`, true}, {"begun", `{"query":"x"}`, false}, {"done", `{}`, false}, {"", `{"query":"x"}`, false}} {
		res, was, err := f.Found(t.Context(), Call{Key: c.key, Args: json.RawMessage(c.args)})
		if err != nil || was != c.was || was && res.Text != "x" {
			t.Errorf("key %q, %s: %v, %q, %v", c.key, c.args, was, res.Text, err)
		}
	}
	if _, err := f.(Tool).Call(t.Context(), Call{Args: json.RawMessage(`{"query":"x"}`)}); err == nil || !strings.Contains(err.Error(), "without an idempotency key") {
		t.Errorf("a write without a key: %v", err)
	}
}

func TestErrorsOfACallHaveAKind(t *testing.T) {
	plain := errors.New("broken")
	for want, cause := range map[Kind]error{Cancelled: context.Canceled, Timeout: context.DeadlineExceeded, Failed: plain, Denied: Errorf(Denied, "", "no")} {
		failing := New(Spec{}, func(context.Context, Call, struct{}) (Result, error) { return Result{}, cause })
		_, err := failing.Call(t.Context(), Call{})
		var known *Error
		if !errors.As(err, &known) || known.Kind != want || !errors.Is(err, cause) {
			t.Errorf("%v becomes %#v, want kind %s", cause, err, want)
		}
	}
}

func TestResultTextIsCutBetweenLines(t *testing.T) {
	texts := New(Spec{}, func(context.Context, Call, struct{}) (Result, error) {
		return Result{Text: strings.Repeat(strings.Repeat("x", 99)+"\n", 1000)}, nil
	})
	res, err := texts.Call(t.Context(), Call{})
	if err != nil || len(res.Text) > MaxText || !res.Truncated || !strings.HasSuffix(res.Text, "x\n(the rest is left out)\n") {
		t.Errorf("%d bytes, truncated %v, %v, ends %q", len(res.Text), res.Truncated, err, res.Text[len(res.Text)-40:])
	}
}
