package model_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/model"
)

func TestKindOfSortsWrappedAndBareErrors(t *testing.T) {
	for _, c := range []struct {
		err  error
		want model.Kind
	}{
		{fmt.Errorf("turn 3: %w", &model.Error{Kind: model.Auth}), model.Auth},
		{&model.Error{Kind: model.Server, Err: context.Canceled}, model.Server},
		{fmt.Errorf("waiting: %w", context.Canceled), model.Cancelled},
		{context.DeadlineExceeded, model.Timeout},
		{errors.New("odd"), model.Server},
	} {
		assert.Equalf(t, model.KindOf(c.err), c.want, "%v", c.err)
	}
}

func TestErrorNamesModelKindAndStatus(t *testing.T) {
	e := &model.Error{Kind: model.RateLimit, Model: "openai:gpt", Status: 429, Message: "slow down"}
	got, want := e.Error(), "openai:gpt: too many requests (HTTP 429): slow down"
	assert.That(t, got == want, "got %q; want %q", got, want)
	bare := &model.Error{Kind: model.Cancelled, Model: "openai:gpt", Err: context.Canceled}
	got, want = bare.Error(), "openai:gpt: the request was cancelled: context canceled"
	assert.That(t, got == want, "got %q; want %q", got, want)
}

func TestIDIsSplitAtTheFirstColon(t *testing.T) {
	for id, want := range map[string][2]string{
		"ollama:llama3.1:8b":       {"ollama", "llama3.1:8b"},
		"house:org/model-1.5:free": {"house", "org/model-1.5:free"},
		"offline":                  {"offline", ""},
		"":                         {"", ""},
	} {
		provider, name := model.SplitID(id)
		assert.That(t, provider == want[0] && name == want[1], "%q is %q and %q; want %q", id, provider, name, want)
	}
}
