package model_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

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
		if got := model.KindOf(c.err); got != c.want {
			t.Errorf("%v is %s; want %s", c.err, got, c.want)
		}
	}
}

func TestErrorNamesModelKindAndStatus(t *testing.T) {
	e := &model.Error{Kind: model.RateLimit, Model: "openai:gpt", Status: 429, Message: "slow down"}
	if got, want := e.Error(), "openai:gpt: too many requests (HTTP 429): slow down"; got != want {
		t.Errorf("got %q; want %q", got, want)
	}
	bare := &model.Error{Kind: model.Cancelled, Model: "openai:gpt", Err: context.Canceled}
	if got, want := bare.Error(), "openai:gpt: the request was cancelled: context canceled"; got != want {
		t.Errorf("got %q; want %q", got, want)
	}
}

func TestIDIsSplitAtTheFirstColon(t *testing.T) {
	for id, want := range map[string][2]string{
		"ollama:llama3.1:8b":       {"ollama", "llama3.1:8b"},
		"house:org/model-1.5:free": {"house", "org/model-1.5:free"},
		"offline":                  {"offline", ""},
		"":                         {"", ""},
	} {
		if provider, name := model.SplitID(id); provider != want[0] || name != want[1] {
			t.Errorf("%q is %q and %q; want %q", id, provider, name, want)
		}
	}
}
