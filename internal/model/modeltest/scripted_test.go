package modeltest_test

import (
	"fmt"
	"strings"
	"testing"

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
	if model.KindOf(err) != model.Invalid {
		t.Errorf("error %v; want Invalid", err)
	}
	for _, want := range []string{"cloud:big", "request 1", "oracle.turn", "found nothing"} {
		if !strings.Contains(tb.failure, want) {
			t.Errorf("the failure %q does not say %q", tb.failure, want)
		}
	}
	if m.Local() {
		t.Error("As(…, false) left the model local")
	}
}

// recorder is a testing.TB that keeps what it is failed with.
type recorder struct {
	testing.TB
	failure string
}

func (r *recorder) Helper() {}

func (r *recorder) Cleanup(func()) {}

func (r *recorder) Errorf(format string, args ...any) { r.failure += fmt.Sprintf(format, args...) }
