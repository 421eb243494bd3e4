package redact_test

import (
	"testing"

	"sibyl/internal/redact"
	"sibyl/internal/redact/redacttest"
)

func TestVectorsAreRedactedAsPublished(t *testing.T) {
	r := redact.New()
	for _, v := range redacttest.Vectors(t) {
		if got := r.String(v.Text); got != v.Want {
			t.Errorf("%s:\n got  %q\n want %q\n from %q", v.Name, got, v.Want, v.Text)
		}
	}
}
