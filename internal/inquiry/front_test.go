package inquiry_test

import (
	"fmt"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
)

// A server reads the front of an inquiry once: questions, analyses and the summary follow each other.
func TestWhatAServerHasReadOfAnInquiryIsFoundAgain(t *testing.T) {
	h := newHouse(t)
	h.analyses = func(n int, _ model.Request) modeltest.Turn {
		return said{Complete: 10 * n, More: n < 6, Gaps: []gap{missing(n, "high")}}.turn()
	}
	h.inquires()
	assert.Require(t, len(h.sent) > 8, "the detective was asked %d times", len(h.sent))
	for n := 1; n < len(h.sent); n++ {
		share := modeltest.FoundAgain(h.sent[n-1], h.sent[n])
		assert.That(t, share >= 0.9, "%s after %s finds %.0f %% of what was read, want at least 90",
			fmt.Sprint(n+1, " ", h.sent[n].Purpose), h.sent[n-1].Purpose, 100*share)
	}
}
