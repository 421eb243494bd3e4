package cli

import (
	"bytes"
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
)

func TestReportOfShadowsSaysWhyQuestionsAreLeftOut(t *testing.T) {
	var out, err bytes.Buffer
	c := &command{Streams: Streams{Out: &out, Err: &err}}
	assert.NoError(t, c.reportShadows(nil, 2, false))
	for _, why := range []string{"2 questions left out", "not ended", "removed", "stopped", "failed", "refused"} {
		assert.That(t, strings.Contains(err.String(), why), "%q is not in %q", why, err.String())
	}
}
