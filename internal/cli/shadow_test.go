package cli

import (
	"bytes"
	"strings"
	"testing"
)

func TestReportOfShadowsSaysWhyQuestionsAreLeftOut(t *testing.T) {
	var out, err bytes.Buffer
	c := &command{Streams: Streams{Out: &out, Err: &err}}
	if failed := c.reportShadows(nil, 2, false); failed != nil {
		t.Fatal(failed)
	}
	for _, why := range []string{"2 questions left out", "not ended", "removed", "stopped", "failed", "refused"} {
		if !strings.Contains(err.String(), why) {
			t.Errorf("%q is not in %q", why, err.String())
		}
	}
}
