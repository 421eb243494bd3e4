package record

import (
	"os"
	"strings"
	"testing"
	"time"

	"sibyl/internal/behaviour/assert"
)

const exampleID = "3f2b8c1e-9d4a-4b6f-8a7e-5c1d2e3f4a5b"

// start is when the sessions of the tests begin: the times of the examples of the requirement.
var start = time.Date(2025, 10, 5, 14, 30, 22, 0, time.UTC)

func hashOf(digit string) string { return "sha256:" + strings.Repeat(digit, 64) }

// completed is a session that uses every member of the form, and breaks no rule.
func completed() Session {
	end := start.Add(4 * time.Minute)
	pair := func(n, complete int, question, answer string, gaps ...Gap) Pair {
		return Pair{
			Sequence: n, Question: question, Answer: answer, Timestamp: start.Add(time.Duration(n) * time.Minute),
			ProviderUsed: "openai:gpt-4o",
			GapAnalysis:  GapAnalysis{Gaps: gaps, CompletenessScore: &complete, RequiresFollowUp: len(gaps) > 1},
			Strategy:     "depth", Aspect: "when", AnsweredBy: "documents", AnalysedBy: "openai:gpt-4o",
		}
	}
	dose := Gap{Category: Vagueness, Description: "“some” says no amount", Severity: Low, ID: "g1",
		Aspect: "how much", Since: 1}
	clash := Gap{Category: Inconsistency, Description: "16 mg and 18 mg", Severity: High, ID: "g2", Since: 2}
	s := Session{
		ID: exampleID, Hypothesis: Hypothesis{Text: "Summarize the health benefits of Vitamin B3", CreatedAt: start},
		StartTime: start, EndTime: &end, Status: Completed,
		IterationLimit: 5, CurrentIteration: 3, EndReason: Satisfied, Language: "en", Detective: "openai:gpt-4o",
		Run: "run-1",
		Pairs: []Pair{
			pair(1, 40, "What does it do?", "It helps. Adults need 16 mg a day.", dose),
			pair(2, 60, "How much is needed?", "The daily allowance is 18 mg.", dose, clash),
			pair(3, 85, "You said “16 mg” and “18 mg”: which holds?", "Both are what I said.", dose),
		},
		AuditTrail: []TrailEntry{
			{Timestamp: start.Add(90 * time.Second), Event: ProviderSwitch, FromProvider: "openai:gpt-4o",
				ToProvider: "anthropic:claude", Reason: "rate limited"},
			{Timestamp: start.Add(95 * time.Second), Event: TimeoutEvent, Reason: "30 s"},
		},
		Witness: Witness{Kind: WitnessDocuments, Name: "papers", Documents: []Document{
			{Name: "b3.pdf", Hash: hashOf("a"), Pages: 3, Chunks: 12}, {Name: "scan.pdf", Error: "it holds no text"}}},
	}
	s.Pairs[2].Follows, s.Pairs[2].About = []string{"g2"}, []int{0, 1}
	s.Pairs[1].Citations = []Citation{{Document: "b3.pdf", Hash: hashOf("a"), Page: 2, Chunk: 4, ChunkHash: hashOf("b"),
		Quote: "The daily allowance is 18 mg."}}
	s.Pairs[0].NotInDocuments = true
	a := Audit{
		Contradictions: []Contradiction{{Pairs: [2]int{0, 1}, Description: "The amounts differ.", Kind: KindNumber,
			Words: [2]string{"16 mg", "18 mg"}, Settled: 3}},
		RemainingGaps: Remaining(s.Pairs), Summary: "# Vitamin B3\n\n- It helps.", By: "openai:gpt-4o",
	}
	a.Sum = Score(s.Pairs, a.Contradictions)
	a.ConsistencyScore = &a.Sum.Score
	s.AuditResult = &a
	return s
}

func TestASessionOfAllMembersBreaksNoRuleAndIsOfTheSchema(t *testing.T) {
	s := completed()
	text := assert.Must(Marshal(s))(t)
	broken := Check(text)
	assert.That(t, len(broken) == 0, "its text breaks %v", broken)
	again := assert.Must(Unmarshal(text))(t)
	second := assert.Must(Marshal(again))(t)
	assert.That(t, string(second) == string(text), "written again, it is\n%s\nafter\n%s", second, text)
}

func content(t testing.TB, name string) string {
	t.Helper()
	return string(assert.Must(os.ReadFile(name))(t))
}

func TestEveryReasonOfAnEndLeadsToItsStatus(t *testing.T) {
	for reason, want := range map[EndReason]Status{Satisfied: Completed, Limit: LimitReached, NoProgress: LimitReached,
		Collected: LimitReached,
		Stopped:   Failed, Broken: Failed, TimedOut: Failed, "": Running, "bored": Running} {
		got, err := reason.Status()
		if got != want || (err != nil) != (want == Running) {
			t.Errorf("“%s” leads to “%s”, %v; want “%s”", reason, got, err, want)
		}
	}
}
