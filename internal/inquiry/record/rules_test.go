package record

import (
	"testing"
	"time"

	"sibyl/internal/behaviour/assert"
)

// failed is a session of the fewest members, which a person stopped.
func failed() Session {
	s := completed()
	s.Status, s.EndReason, s.ProvisionalAudit, s.AuditResult = Failed, Stopped, s.AuditResult, nil
	return s
}

// running is a session that goes on.
func running() Session {
	s := completed()
	s.Status, s.EndReason, s.EndTime, s.AuditResult = Running, "", nil, nil
	return s
}

// limited is a session that ended at its limit.
func limited() Session {
	s := completed()
	for n := 4; n <= 5; n++ {
		p := s.Pairs[2]
		p.Sequence, p.Follows, p.About = n, nil, nil
		s.Pairs = append(s.Pairs, p)
	}
	s.CurrentIteration, s.Status, s.EndReason, s.ProvisionalAudit, s.AuditResult = 5, LimitReached, Limit,
		s.AuditResult, nil
	s.rescore()
	return s
}

// rescore gives the audit the score of the formula.
func (s *Session) rescore() {
	a := s.Audit()
	a.Sum = Score(s.Pairs, a.Contradictions)
	a.ConsistencyScore = &a.Sum.Score
}

// breaches are changes that each break one rule, with where, and the session that they are made in. Those whose path is
// empty break the schema.
func breaches() map[string]struct {
	path   string
	of     func() Session
	change func(s *Session)
} {
	type one = struct {
		path   string
		of     func() Session
		change func(s *Session)
	}
	first := func(s *Session) *Contradiction { return &s.AuditResult.Contradictions[0] }
	return map[string]one{
		"id of version 1": {"", completed, func(s *Session) {
			s.ID = "3f2b8c1e-9d4a-1b6f-8a7e-5c1d2e3f4a5b"
		}},
		"hypothesis of white space":  {"", completed, func(s *Session) { s.Hypothesis.Text = " \n\t" }},
		"end of a running session":   {"endTime", running, func(s *Session) { s.EndTime = &start }},
		"unknown status":             {"", failed, func(s *Session) { s.Status, s.EndReason = "paused", "" }},
		"reason of another status":   {"endReason", completed, func(s *Session) { s.EndReason = TimedOut }},
		"satisfied failure":          {"endReason", failed, func(s *Session) { s.EndReason = Satisfied }},
		"limit of 21":                {"", completed, func(s *Session) { s.IterationLimit = 21 }},
		"completed without an audit": {"auditResult", completed, func(s *Session) { s.AuditResult = nil }},
		"completed without a score": {"auditResult.consistencyScore", completed, func(s *Session) {
			s.AuditResult.ConsistencyScore, s.AuditResult.Sum, s.AuditResult.Unjudged = nil, Sum{}, "x"
		}},
		"neither score nor why": {"provisionalAudit.consistencyScore", failed, func(s *Session) {
			s.ProvisionalAudit.ConsistencyScore, s.ProvisionalAudit.Sum = nil, Sum{}
		}},
		"neither completeness nor why": {"qaPairs[0].gapAnalysis.completenessScore", failed, func(s *Session) {
			s.Pairs[0].GapAnalysis.CompletenessScore = nil
			s.rescore()
		}},
		"failed with an audit": {"auditResult", failed, func(s *Session) {
			s.AuditResult = s.ProvisionalAudit
		}},
		"failed without an audit": {"provisionalAudit", failed, func(s *Session) { s.ProvisionalAudit = nil }},
		"completed provisionally": {"provisionalAudit", completed, func(s *Session) {
			s.ProvisionalAudit = s.AuditResult
		}},
		"another language":          {"", completed, func(s *Session) { s.Language = "xx" }},
		"detective without a model": {"", completed, func(s *Session) { s.Detective = "openai" }},
		"unknown event":             {"", completed, func(s *Session) { s.AuditTrail[1].Event = "rules" }},
		"provider of an error": {"auditTrail[1]", completed, func(s *Session) {
			s.AuditTrail[1].FromProvider = "openai:x"
		}},
		"no question": {"", completed, func(s *Session) { s.Pairs[1].Question = "" }},
		"completeness of 101": {"", failed, func(s *Session) {
			*s.Pairs[2].GapAnalysis.CompletenessScore = 101
		}},
		"unknown category": {"", failed, func(s *Session) {
			s.Pairs[0].GapAnalysis.Gaps[0].Category = "gap"
		}},
		"hash in capitals": {"", completed, func(s *Session) {
			s.Pairs[1].Citations[0].ChunkHash = hashOf("A")
		}},
		"document without a hash": {"witness.documents[1].hash", completed, func(s *Session) {
			s.Witness.Documents[1].Error = ""
		}},
		"unknown kind": {"", completed, func(s *Session) { first(s).Kind = "place" }},
		"no summary":   {"", completed, func(s *Session) { s.AuditResult.Summary = "" }},
		"an unverified one of no why": {"", completed, func(s *Session) {
			s.AuditResult.Unverified = []Unverified{{Description: "x", Pair: 1}}
		}},
		"end before start": {"endTime", completed, func(s *Session) {
			*s.EndTime = start.Add(-time.Second)
		}},
		"fewer pairs than counted":   {"qaPairs", completed, func(s *Session) { s.CurrentIteration = 4 }},
		"limit that was not reached": {"qaPairs", limited, func(s *Session) { s.IterationLimit = 6 }},
		"completed with a follow-up": {"qaPairs[2].gapAnalysis.requiresFollowUp", completed, func(s *Session) {
			s.Pairs[2].GapAnalysis.RequiresFollowUp = true
		}},
		"satisfied and incomplete": {"qaPairs[2].gapAnalysis.completenessScore", completed, func(s *Session) {
			*s.Pairs[2].GapAnalysis.CompletenessScore = 79
			s.rescore()
		}},
		"judged and unjudged": {"qaPairs[0].gapAnalysis.completenessScore", completed, func(s *Session) {
			s.Pairs[0].GapAnalysis.Unjudged = "x"
		}},
		"scored and unjudged": {"auditResult.consistencyScore", completed, func(s *Session) {
			s.AuditResult.Unjudged = "x"
		}},
		"sequence of another pair": {"qaPairs[1].sequence", completed, func(s *Session) {
			s.Pairs[1].Sequence = 3
		}},
		"pair before the start": {"qaPairs[0].timestamp", completed, func(s *Session) {
			s.Pairs[0].Timestamp = start.Add(-1)
		}},
		"about itself": {"qaPairs[2].about[1]", completed, func(s *Session) {
			s.Pairs[2].About[1] = 2
		}},
		"gap twice": {"qaPairs[1].gapAnalysis.gaps[1].id", completed, func(s *Session) {
			s.Pairs[1].GapAnalysis.Gaps[1].ID = "g1"
		}},
		"gap of a later pair": {"qaPairs[0].gapAnalysis.gaps[0].since", completed, func(s *Session) {
			s.Pairs[0].GapAnalysis.Gaps[0].Since = 2
		}},
		"citation of no document": {"qaPairs[1].citations[0]", completed, func(s *Session) {
			s.Pairs[1].Citations[0].Document = "other.pdf"
		}},
		"citation of another version": {"qaPairs[1].citations[0]", completed, func(s *Session) {
			s.Pairs[1].Citations[0].Hash = hashOf("c")
		}},
		"document twice": {"witness.documents[1].name", completed, func(s *Session) {
			s.Witness.Documents[1].Name = "b3.pdf"
		}},
		"score that is invented": {"auditResult.sum", completed, func(s *Session) {
			*s.AuditResult.ConsistencyScore++
		}},
		"term that is invented": {"auditResult.sum", completed, func(s *Session) { s.AuditResult.Sum.Gaps++ }},
		"contradiction beyond pairs": {"auditResult.contradictions[0].qaPairIndexes[1]", completed, func(s *Session) {
			first(s).Pairs[1] = 3
		}},
		"words that nobody said": {"auditResult.contradictions[0].words[1]", completed, func(s *Session) {
			first(s).Words[1] = "19 mg"
		}},
		"place in no document": {"auditResult.contradictions[0].places[1]", completed, func(s *Session) {
			first(s).Places[1] = Place{"other.pdf", 1}
		}},
		"settled by no pair": {"auditResult.contradictions[0].settledBy", completed, func(s *Session) {
			first(s).Settled = 4
		}},
		"gap that is left out": {"auditResult.remainingGaps", completed, func(s *Session) {
			s.AuditResult.RemainingGaps = []RemainingGap{}
		}},
		"gap that was closed": {"auditResult.remainingGaps", completed, func(s *Session) {
			s.AuditResult.RemainingGaps = append(s.AuditResult.RemainingGaps, RemainingGap{Category: Ambiguity,
				Description: "it"})
		}},
	}
}

func TestEveryBreachOfTheFormIsNamedWithItsPlace(t *testing.T) {
	for name, b := range breaches() {
		s := b.of()
		b.change(&s)
		got := Check(assert.Must(Marshal(s))(t))
		assert.That(t, len(got) == 1 && got[0].Path == b.path && got[0].Problem != "" &&
			(got[0].Rule == RuleForm) == (b.path == ""), "%s: %v", name, got)
	}
}

func TestSessionsOfAllSortsBreakNoRule(t *testing.T) {
	high := completed()
	high.Pairs[2].GapAnalysis.Gaps[0].Severity = High
	high.AuditResult.RemainingGaps = Remaining(high.Pairs)
	high.rescore()
	within := completed()
	c := &within.AuditResult.Contradictions[0]
	c.Pairs, c.Places, c.Words = [2]int{1, 1}, [2]Place{{"b3.pdf", 1}, {"b3.pdf", 2}}, [2]string{"on the first page",
		"on the second"}
	for name, s := range map[string]Session{"completed": completed(), "failed": failed(), "running": running(),
		"at its limit": limited(),
		"collected":    collected(), "satisfied with a high gap": high, "within one answer": within} {
		got := Check(assert.Must(Marshal(s))(t))
		assert.That(t, len(got) == 0, "%s: %v", name, got)
	}
}

func TestTheVerdictSaysHowItEndedWhoJudgedAndWhatCameOfIt(t *testing.T) {
	broken := failed()
	broken.EndReason, broken.Resumable = Broken, true
	broken.ProvisionalAudit.ConsistencyScore, broken.ProvisionalAudit.Sum, broken.ProvisionalAudit.Unjudged = nil,
		Sum{}, "openai:det: 401 - the key is refused"
	doubtful := completed()
	doubtful.AuditResult.Contradictions[0].Unconfirmed = true
	doubtful.AuditResult.Unverified = []Unverified{{}}
	for want, s := range map[string]Session{
		"The detective is satisfied after 3 questions. Consistency 84 of 100. 1 contradiction, 1 open gap.": completed(),
		"The detective is satisfied after 3 questions. Consistency 84 of 100. 1 contradiction (1 unconfirmed), 1 " +
			"open gap, 1 not verifiable.": doubtful,
		"The limit was reached after 5 questions. Provisional: consistency 85 of 100. 1 contradiction, 1 open gap.": limited(),
		"It was stopped after 3 questions. Provisional: consistency 84 of 100. 1 contradiction, 1 open gap.":        failed(),
		"It is paused after 3 questions: openai:det: 401 - the key is refused. ‘sibyl run resume run-1’ goes on with it, " +
			"‘sibyl run stop run-1’ ends it. No score. 1 contradiction, 1 open gap.": broken,
		NotAudited:                       collected(),
		"It goes on, after 3 questions.": running(),
	} {
		got := Verdict(&s)
		assert.That(t, got == want, "%s\nwant %s", got, want)
	}
}
