package offline_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/model"
	"sibyl/internal/model/offline"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// oneRule returns a model with a single rule, for the purpose "p".
func oneRule(rule offline.Rule) model.Model { return offline.New(map[string]offline.Rule{"p": rule}) }

func textRule(text string) offline.Rule {
	return func(context.Context, model.Request) (model.Response, error) { return model.Response{Text: text}, nil }
}

func TestRuleOfThePurposeSeesTheRequest(t *testing.T) {
	var seen model.Request
	m := offline.New(map[string]offline.Rule{
		"classify": textRule("wrong rule"),
		"answer": func(_ context.Context, req model.Request) (model.Response, error) {
			seen = req
			return model.Response{Text: "right rule"}, nil
		},
	})
	req := model.Request{Purpose: "answer", Facts: 42, System: "s"}
	resp, err := m.Chat(t.Context(), req, nil)
	assert.That(t, err == nil && resp.Text == "right rule" && m.ID() == model.OfflineRules && m.Local(),
		"got %+v, %v", resp, err)
	assert.NoDiff(t, cmp.Diff(req, seen), "request (-want +got)")
}

func TestUnknownPurposeIsInvalidAndNamesThePurposes(t *testing.T) {
	m := offline.New(map[string]offline.Rule{"oracle.turn": textRule("x"), "council.answer": textRule("x"), "broken": nil})
	_, err := m.Chat(t.Context(), model.Request{Purpose: "oracle.tern"}, nil)
	assert.That(t, model.KindOf(err) == model.Invalid, "error %v; want invalid", err)
	assert.Contains(t, "the error", fmt.Sprint(err), model.OfflineRules, `"oracle.tern"`, "council.answer", "oracle.turn")
	_, err = m.Chat(t.Context(), model.Request{Purpose: "broken"}, nil)
	assert.That(t, model.KindOf(err) == model.Invalid, "a nil rule gave %v", err)
}

func TestEmptyFieldsAreFilledIn(t *testing.T) {
	calls := []model.ToolCall{{Name: "f"}, {ID: "mine", Name: "f", Arguments: `{"a":1}`}}
	m := oneRule(func(context.Context, model.Request) (model.Response, error) {
		return model.Response{Text: "äöüß!", ToolCalls: calls}, nil
	})
	req := model.Request{
		Purpose: "p", System: "12345678",
		Messages: []model.Message{{Role: model.Assistant, Text: "1234",
			ToolCalls: []model.ToolCall{{Name: "f", Arguments: "{}"}}}},
		Tools: []model.Tool{{Name: "f", Description: "12345", Schema: []byte(`{}`)}},
	}
	got, err := m.Chat(t.Context(), req, nil)
	want := model.Response{
		Text: "äöüß!", Model: model.OfflineRules, Finish: model.FinishTools, Attempts: 1,
		ToolCalls: []model.ToolCall{{ID: "call_2", Name: "f", Arguments: "{}"},
			{ID: "mine", Name: "f", Arguments: `{"a":1}`}},
		Usage: model.Usage{InputTokens: 6, OutputTokens: 4}, // 23 and 16 characters
	}
	diff := cmp.Diff(want, got)
	assert.That(t, err == nil && diff == "", "error %v, response (-want +got):\n%s", err, diff)
	assert.That(t, calls[0].ID == "", "the rule's own slice was changed")
}

func TestCallOfAToolThatWasNotOfferedIsInvalid(t *testing.T) {
	m := oneRule(func(context.Context, model.Request) (model.Response, error) {
		return model.Response{ToolCalls: []model.ToolCall{{Name: "delete_task"}}}, nil
	})
	resp, err := m.Chat(t.Context(), model.Request{Purpose: "p"}, nil)
	assert.That(t, model.KindOf(err) == model.Invalid && strings.Contains(err.Error(), "delete_task") &&
		resp.ToolCalls == nil, "got %+v, %v", resp, err)
}

func TestAnyTextIsEmittedWholeAndAWordAtATime(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.String().Draw(rt, "text")
		var got strings.Builder
		resp, err := oneRule(textRule(text)).Chat(t.Context(), model.Request{Purpose: "p"}, func(d model.Delta) error {
			assert.Require(rt, d.Text != "" && !strings.Contains(strings.TrimSuffix(d.Text, " "), " "), "emitted %q", d.Text)
			got.WriteString(d.Text)
			return nil
		})
		assert.Require(rt, err == nil && resp.Text == text && got.String() == text,
			"emitted %q, text %q, %v; want %q", got.String(), resp.Text, err, text)
	})
}

func TestBrokenOffAnswerHoldsWhatWasEmitted(t *testing.T) {
	full := errors.New("full")
	ctx, cancel := context.WithCancel(t.Context())
	for _, c := range []struct {
		name string
		emit func(model.Delta) error
		text string
		want error
	}{
		{"error from emit", func(d model.Delta) error {
			if d.Text == "two " {
				return full
			}
			return nil
		}, "one two ", full},
		{"cancel", func(model.Delta) error { cancel(); return nil }, "one ", context.Canceled},
	} {
		resp, err := oneRule(textRule("one two three")).Chat(ctx, model.Request{Purpose: "p"}, c.emit)
		assert.That(t, resp.Text == c.text && errors.Is(err, c.want) && model.KindOf(err) == model.Cancelled,
			"%s: got %q, %v; want %q, %v", c.name, resp.Text, err, c.text, c.want)
	}
}

func TestFailureOfARuleHasAKindThatIsNotRepeatedByMistake(t *testing.T) {
	for _, c := range []struct {
		err  error
		want model.Kind
	}{
		{errors.New("no facts"), model.Invalid},
		{fmt.Errorf("searching: %w", context.Canceled), model.Cancelled},
		{fmt.Errorf("searching: %w", context.DeadlineExceeded), model.Timeout},
		{fmt.Errorf("rule: %w", &model.Error{Kind: model.ContextLength, Model: "other:model"}), model.ContextLength},
	} {
		_, err := oneRule(func(context.Context, model.Request) (model.Response, error) {
			return model.Response{Text: "half"}, c.err
		}).Chat(t.Context(), model.Request{Purpose: "p"}, nil)
		var e *model.Error
		assert.That(t, errors.As(err, &e) && e.Kind == c.want && e.Model == model.OfflineRules,
			"%v became %v; want kind %s of %s", c.err, err, c.want, model.OfflineRules)
	}
}
