package model_test

import (
	"context"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/model"
)

func TestErrorNamesModelKindAndStatus(t *testing.T) {
	e := &model.Error{Kind: model.RateLimit, Model: "openai:gpt", Status: 429, Message: "slow down"}
	got, want := e.Error(), "openai:gpt: too many requests (HTTP 429): slow down"
	assert.That(t, got == want, "got %q; want %q", got, want)
	bare := &model.Error{Kind: model.Cancelled, Model: "openai:gpt", Err: context.Canceled}
	got, want = bare.Error(), "openai:gpt: the request was cancelled: context canceled"
	assert.That(t, got == want, "got %q; want %q", got, want)
}
