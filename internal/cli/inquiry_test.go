package cli

import (
	"strings"
	"testing"
)

func TestInquiryEndsInAFewLines(t *testing.T) {
	short := strings.Repeat("a finding\n", 10)
	if got := beginningOf(short); got != short {
		t.Errorf("a short one is shown as %q", got)
	}
	if got := beginningOf("The verdict.\n\n" + strings.Repeat("- a finding\n", 80)); strings.Count(got, "\n") > 14 || !strings.HasPrefix(got, "The verdict.") || !strings.HasSuffix(got, "\n\n…") {
		t.Errorf("a long one is shown as\n%s", got)
	}
}
