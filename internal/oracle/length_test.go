package oracle_test

import (
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/oracle"
)

func TestLongestQuestionAndAnswerEndTheirRunAndTheSessionGoesOn(t *testing.T) {
	t.Parallel()
	for _, mark := range []string{`"`, "\x01", "é"} {
		text := strings.Repeat(mark, oracle.MaxQuestion/len(mark))
		h := setUp(t, modeltest.Say(strings.ReplaceAll(text, "\x01", "\t")+"OLD-END "+partial("more")),
			modeltest.Say("NOTES: none."), modeltest.Say("Yes. "+partial("more")))
		h.finish(h.start(text))
		all := h.endedAnswers(h.session)
		assert.That(t, len(all) == 1 && all[0].Question == text && strings.Contains(all[0].Answer, "OLD-END"),
			"%q: the answer is not whole", mark)
		h.finish(h.start("And in the tests?"))
		all = h.endedAnswers(h.session)
		assert.That(t, len(all) == 2, "%q: the session has %d answers", mark, len(all))
	}
}
