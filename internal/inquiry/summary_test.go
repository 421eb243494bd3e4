package inquiry

import (
	"strings"
	"testing"

	"sibyl/internal/inquiry/rules"
)

func TestSummaryByRulesSaysEachSentenceOnce(t *testing.T) {
	all := []rules.Exchange{
		{Question: "What?", Answer: "Bruno was vaccinated on 8 January. He weighs 23 kg."},
		{Question: "Why?", Answer: "That is not in the documents.", NotFound: true},
		{Question: "When?", Answer: "Bruno was vaccinated on 8 January."},
		{Question: "Where?", NotFound: true},
		{Question: "How?", Answer: "Dr. Weiss came.\nShe left. She left."},
	}
	got := summaryByRules("en", "Bruno was ill", all, AnalyseReceipt{})
	_, got, _ = strings.Cut(got, "## What was said\n\n")
	got, _, _ = strings.Cut(got, "\n\n")
	want := "- Bruno was vaccinated on 8 January. (answers 1 and 3)\n- He weighs 23 kg. (answer 1)\n- *not in the documents* (answers 2 and 4)\n- Dr. Weiss came. She left. (answer 5)"
	if got != want {
		t.Errorf("%s", got)
	}
	if german := summaryByRules("de", "Bruno war krank", all, AnalyseReceipt{}); !strings.Contains(german, "(Antworten 1 und 3)") {
		t.Errorf("%s", german)
	}
}
