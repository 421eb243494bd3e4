package assistant_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/bt"
	"sibyl/internal/journal"
	"sibyl/internal/model"
	"sibyl/internal/run"
	"sibyl/internal/service/assistant"
)

func TestPromptIsToldAsItIsSent(t *testing.T) {
	q := &assistant.Prompt{}
	q.AddSegment("base", "Be brief.\n")
	q.AddSegment("nothing", "")
	q.AddSegment("language", "\n\nWrite in English.")
	q.BeginMessage(model.User)
	q.AddPart(assistant.PartPerson, "", "Who")
	q.AddPart(assistant.PartSegment, "open", "?")
	assert.That(t, q.Request.System == "Be brief.\n\n\nWrite in English." && len(q.Request.Messages) == 1 &&
		q.Request.Messages[0].Text == "Who?", "the request is %+v", q.Request)
	form := model.Schema{Name: "answer", JSON: json.RawMessage(`{}`)}
	x := q.ShowEffect("a:b", form, q.Request.Digest(), assistant.AnswerParts("Ada.")...)
	want := []assistant.Part{{Kind: "segment", Name: "base", Text: "Be brief."}, {Kind: "segment", Name: "language",
		Text: "Write in English."}, {Kind: "segment", Name: "form", Text: form.Instruction()},
		{Kind: "person", Text: "Who"}, {Kind: "segment", Name: "open", Text: "?"}}
	diff := cmp.Diff(want, x.Sent)
	assert.That(t, diff == "" && !x.Changed && x.To == "a:b" && len(x.Got) == 1, "told as %+v (-want +got):\n%s", x, diff)
	other := model.Request{System: "Be terse."}
	x = q.ShowEffect("", model.Schema{}, other.Digest())
	assert.That(t, x.Changed, "another request counts as the one that was sent")
	x = q.ShowEffect("", model.Schema{}, model.Sent{})
	assert.That(t, !x.Changed, "where a receipt does not say what was sent, it counts as another")
}

func TestOnlyModelsThatCountHaveUsedTokens(t *testing.T) {
	for name, c := range map[string]struct {
		result string
		want   journal.Used
	}{
		"a model": {`{"model":"a:b","usage":{"input_tokens":3,"cached_tokens":1,"output_tokens":2}}`,
			journal.Used{Model: "a:b", Input: 3, Cached: 1, Output: 2}},
		"by another name": {`{"by":"a:b","usage":{"input_tokens":3,"output_tokens":0}}`,
			journal.Used{Model: "a:b", Input: 3}},
		"rules": {`{"by":"offline:rules","usage":{"input_tokens":3,"output_tokens":2}}`,
			journal.Used{}},
		"a model that counts none": {`{"model":"a:b","usage":{"input_tokens":0,"output_tokens":0}}`, journal.Used{}},
		"a text":                   {`"ADA"`, journal.Used{}},
		"nothing":                  {``, journal.Used{}},
	} {
		t.Run(name, func(t *testing.T) {
			got, used := assistant.UsedBy(&run.CompletionRecord{Result: json.RawMessage(c.result)})
			if used != (c.want != journal.Used{}) || got != c.want {
				t.Errorf("%+v, %v", got, used)
			}
		})
	}
}

func TestModelThatWasNotReachedWasSentNothing(t *testing.T) {
	tried := func(beside string) string {
		return `{"model":"a:b","sent_bytes":9,"tries":[{"model":"c:d"` + beside + `}]}`
	}
	for name, c := range map[string]struct {
		result string
		err    *bt.Fault
		want   []string
	}{
		"both were":        {tried(``), nil, []string{"c:d", "a:b"}},
		"a failed one":     {tried(``), &bt.Fault{Kind: "server"}, []string{"c:d", "a:b"}},
		"an unasked one":   {tried(`,"cooling":true`), nil, []string{"a:b"}},
		"an unreached try": {tried(`,"unsent":true`), nil, []string{"a:b"}},
		"an unreached one": {tried(``), &bt.Fault{Kind: "server", Unsent: true}, []string{"c:d"}},
	} {
		var got []string
		for _, l := range assistant.SentToModels(&run.CompletionRecord{Result: json.RawMessage(c.result), Err: c.err}) {
			got = append(got, l.To)
		}
		assert.That(t, slices.Equal(got, c.want), "%s: sent to %v, want %v", name, got, c.want)
	}
}
