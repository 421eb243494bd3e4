package modeltest_test

import (
	"fmt"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
)

func TestRequestBeyondTheScriptFailsTheTestAndSaysWhichItWas(t *testing.T) {
	var tb recorder
	m := modeltest.Script(&tb).As("cloud:big", false)
	_, err := m.Chat(t.Context(), model.Request{
		Purpose:  "oracle.turn",
		Messages: []model.Message{{Role: model.ToolRole, Text: "found nothing"}},
	}, nil)
	assert.That(t, model.KindOf(err) == model.Invalid, "error %v; want Invalid", err)
	assert.Contains(t, "the failure", tb.failure, "cloud:big", "request 1", "oracle.turn", "found nothing")
	assert.That(t, !m.Local(), "As(…, false) left the model local")
}

// recorder is a testing.TB that keeps what it is failed with.
type recorder struct {
	testing.TB
	failure string
}

func (r *recorder) Helper() {}

func (r *recorder) Cleanup(func()) {}

func (r *recorder) Errorf(format string, args ...any) { r.failure += fmt.Sprintf(format, args...) }
