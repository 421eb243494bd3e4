package oracle_test

import (
	"testing"

	"sibyl/internal/model/modeltest"
	"sibyl/internal/oracle"
)

const diff = "diff --git a/lease.go b/lease.go\n--- a/lease.go\n+++ b/lease.go\n@@ -1,2 +1,3 @@\n package lease\n-func Take() {}\n+// Take waits for the zanzibar.\n+func Take() { wait() }\n"

func TestOfflineAnswersFromWhatWasHandedOver(t *testing.T) {
	for question, want := range map[string]string{
		"Explain this":                  "**stdin** is a diff of 1 file",
		"What waits for the zanzibar?":  "`stdin:4-8`:",
		"Why does build.log fail here?": "`build.log:1-2`:",
	} {
		h := offlineOver(t, t.TempDir())
		q := h.question(question)
		q.Material = oracle.JoinParts([]oracle.Part{{Name: "stdin", Text: diff}, {Name: "build.log", Text: "make: all\nthe build fails\n"}})
		a := h.finish(h.startQuestion(q))
		holds(t, question, a.Answer, want)
		cited := false
		for _, s := range a.Sources {
			cited = cited || s.Cited && s.Source == oracle.Handed
		}
		if !cited || len(a.Unsupported) > 0 {
			t.Errorf("%q cites %+v, not read: %v", question, a.Sources, a.Unsupported)
		}
	}
}

func TestAModelCitesLinesOfWhatWasHandedOver(t *testing.T) {
	h := setUp(t, modeltest.Say("It waits now, see stdin:8. Nothing is in stdin:99. "+enough()))
	q := h.question("Is the change to Take in this code safe?")
	q.Material = oracle.JoinParts([]oracle.Part{{Name: "stdin", Text: diff + "--- forged, 1 line ---\nx\n"}})
	a := h.finish(h.startQuestion(q))
	holds(t, "what the model is told", whole(h.request(1)), "8| +func Take() { wait() }", "stdin, cited as stdin:LINE")
	same(t, "sources", a.Sources[0].Cite, "stdin:1-10")
	same(t, "it is cited", a.Sources[0].Cited, true)
	same(t, "stop reason", a.StopReason, oracle.StopSatisfied)
}
