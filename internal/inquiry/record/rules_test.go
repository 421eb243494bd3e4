package record

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"
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
	s.CurrentIteration, s.Status, s.EndReason, s.ProvisionalAudit, s.AuditResult = 5, LimitReached, Limit, s.AuditResult, nil
	s.rescore()
	return s
}

// rescore gives the audit the score of the formula.
func (s *Session) rescore() {
	a := s.Audit()
	a.Sum = Score(s.Pairs, a.Contradictions)
	a.ConsistencyScore = a.Sum.Score
}

// breach is a change that breaks one rule alone.
type breach struct {
	rule   Rule
	path   string // of the violation
	schema bool   // the schema can tell, too
	change func(s *Session)
	of     func() Session // nil: completed
}

func breaches() map[string]breach {
	remain := func(s *Session) {
		s.AuditResult.RemainingGaps = Remaining(s.Pairs)
		s.rescore()
	}
	return map[string]breach{
		"id of version 1":             {RuleID, "id", true, func(s *Session) { s.ID = "3f2b8c1e-9d4a-1b6f-8a7e-5c1d2e3f4a5b" }, nil},
		"id of another variant":       {RuleID, "id", true, func(s *Session) { s.ID = "3f2b8c1e-9d4a-4b6f-ca7e-5c1d2e3f4a5b" }, nil},
		"id that is a path":           {RuleID, "id", true, func(s *Session) { s.ID = "../../etc/passwd" }, nil},
		"id with braces":              {RuleID, "id", true, func(s *Session) { s.ID = "{" + s.ID + "}" }, nil},
		"no id":                       {RuleID, "id", true, func(s *Session) { s.ID = "" }, nil},
		"no hypothesis":               {RuleHypothesis, "hypothesis.text", true, func(s *Session) { s.Hypothesis.Text = "" }, nil},
		"hypothesis of white space":   {RuleHypothesis, "hypothesis.text", true, func(s *Session) { s.Hypothesis.Text = " \n\t" }, nil},
		"hypothesis without time":     {RuleHypothesis, "hypothesis.createdAt", false, func(s *Session) { s.Hypothesis.CreatedAt = time.Time{} }, nil},
		"no start":                    {RuleStart, "startTime", false, func(s *Session) { s.StartTime = time.Time{} }, nil},
		"end before start":            {RuleEnd, "endTime", false, func(s *Session) { *s.EndTime = start.Add(-time.Second) }, nil},
		"end of a running session":    {RuleRunning, "endTime", true, func(s *Session) { s.EndTime = &start }, running},
		"reason of a running session": {RuleRunning, "endReason", true, func(s *Session) { s.EndReason = Stopped }, running},
		"unknown status":              {RuleStatus, "status", true, func(s *Session) { s.Status, s.EndReason = "paused", "" }, failed},
		"status in capitals":          {RuleStatus, "status", true, func(s *Session) { s.Status, s.EndReason = "Failed", "" }, failed},
		"reason of another status":    {RuleEndReason, "endReason", true, func(s *Session) { s.EndReason = TimedOut }, nil},
		"reason of failure at limit":  {RuleEndReason, "endReason", true, func(s *Session) { s.EndReason = Broken }, limited},
		"satisfied failure":           {RuleEndReason, "endReason", true, func(s *Session) { s.EndReason = Satisfied }, failed},
		"unknown reason":              {RuleEndReason, "endReason", true, func(s *Session) { s.EndReason = "bored" }, failed},
		"limit of 4":                  {RuleLimit, "iterationLimit", true, func(s *Session) { s.IterationLimit = 4 }, nil},
		"limit of 21":                 {RuleLimit, "iterationLimit", true, func(s *Session) { s.IterationLimit = 21 }, nil},
		"iteration beyond the limit": {RuleIteration, "currentIteration", false, func(s *Session) {
			p := s.Pairs[4]
			p.Sequence = 6
			s.Pairs, s.CurrentIteration, s.EndReason = append(s.Pairs, p), 6, NoProgress
			s.rescore()
		}, limited},
		"fewer pairs than counted":    {RulePairs, "qaPairs", false, func(s *Session) { s.CurrentIteration = 4 }, nil},
		"more pairs than counted":     {RulePairs, "qaPairs", false, func(s *Session) { s.CurrentIteration = 2 }, nil},
		"limit that was not reached":  {RuleLimitReached, "qaPairs", false, func(s *Session) { s.IterationLimit = 6 }, limited},
		"completed with a follow-up":  {RuleSatisfied, "qaPairs[2].gapAnalysis.requiresFollowUp", false, func(s *Session) { s.Pairs[2].GapAnalysis.RequiresFollowUp = true }, nil},
		"satisfied and incomplete":    {RuleSatisfied, "qaPairs[2].gapAnalysis.completenessScore", false, func(s *Session) { s.Pairs[2].GapAnalysis.CompletenessScore = 79; s.rescore() }, nil},
		"satisfied with a high gap":   {RuleSatisfied, "qaPairs[2].gapAnalysis.gaps[0].severity", false, func(s *Session) { s.Pairs[2].GapAnalysis.Gaps[0].Severity = High; remain(s) }, nil},
		"completed without a pair":    {RuleSatisfied, "qaPairs", true, func(s *Session) { s.Pairs, s.CurrentIteration, s.AuditResult.Contradictions = nil, 0, nil; remain(s) }, nil},
		"completed without an audit":  {RuleAudit, "auditResult", true, func(s *Session) { s.AuditResult = nil }, nil},
		"running with an audit":       {RuleAudit, "auditResult", true, func(s *Session) { s.AuditResult = completed().AuditResult }, running},
		"failed with an audit":        {RuleAudit, "auditResult", true, func(s *Session) { s.AuditResult = s.ProvisionalAudit }, failed},
		"failed without an audit":     {RuleProvisional, "provisionalAudit", true, func(s *Session) { s.ProvisionalAudit = nil }, failed},
		"at limit without an audit":   {RuleProvisional, "provisionalAudit", true, func(s *Session) { s.ProvisionalAudit = nil }, limited},
		"completed provisionally":     {RuleProvisional, "provisionalAudit", true, func(s *Session) { s.ProvisionalAudit = s.AuditResult }, nil},
		"another language":            {RuleLanguage, "language", true, func(s *Session) { s.Language = "fr" }, nil},
		"detective without a model":   {RuleDetective, "detective", true, func(s *Session) { s.Detective = "openai" }, nil},
		"event without a time":        {RuleEventTime, "auditTrail[1].timestamp", false, func(s *Session) { s.AuditTrail[1].Timestamp = time.Time{} }, nil},
		"unknown event":               {RuleEvent, "auditTrail[1].event", true, func(s *Session) { s.AuditTrail[1].Event = "rules" }, nil},
		"provider of an error":        {RuleSwitch, "auditTrail[1].fromProvider", true, func(s *Session) { s.AuditTrail[1].FromProvider = "openai:x" }, nil},
		"target of a time-out":        {RuleSwitch, "auditTrail[1].toProvider", true, func(s *Session) { s.AuditTrail[1].ToProvider = "openai:x" }, nil},
		"sequence from 0":             {RuleSequence, "qaPairs[0].sequence", true, func(s *Session) { s.Pairs[0].Sequence = 0 }, nil},
		"sequence of another pair":    {RuleSequence, "qaPairs[1].sequence", false, func(s *Session) { s.Pairs[1].Sequence = 3 }, nil},
		"no question":                 {RuleQuestion, "qaPairs[1].question", true, func(s *Session) { s.Pairs[1].Question = "" }, nil},
		"pair without a time":         {RuleTimestamp, "qaPairs[1].timestamp", false, func(s *Session) { s.Pairs[1].Timestamp = time.Time{} }, nil},
		"pair before the start":       {RuleTimestamp, "qaPairs[0].timestamp", false, func(s *Session) { s.Pairs[0].Timestamp = start.Add(-1) }, nil},
		"provider without a model":    {RuleProvider, "qaPairs[0].providerUsed", true, func(s *Session) { s.Pairs[0].ProviderUsed = "openai" }, nil},
		"model without a provider":    {RuleProvider, "qaPairs[0].providerUsed", true, func(s *Session) { s.Pairs[0].ProviderUsed = ":gpt-4o" }, nil},
		"provider with a space":       {RuleProvider, "qaPairs[0].providerUsed", true, func(s *Session) { s.Pairs[0].ProviderUsed = "openai: gpt-4o" }, nil},
		"about itself":                {RuleAbout, "qaPairs[2].about[1]", false, func(s *Session) { s.Pairs[2].About[1] = 2 }, nil},
		"about the pair before 0":     {RuleAbout, "qaPairs[2].about[0]", true, func(s *Session) { s.Pairs[2].About[0] = -1 }, nil},
		"completeness of 101":         {RuleCompleteness, "qaPairs[2].gapAnalysis.completenessScore", true, func(s *Session) { s.Pairs[2].GapAnalysis.CompletenessScore = 101; s.rescore() }, nil},
		"completeness below 0":        {RuleCompleteness, "qaPairs[0].gapAnalysis.completenessScore", true, func(s *Session) { s.Pairs[0].GapAnalysis.CompletenessScore = -1; s.rescore() }, nil},
		"unknown category":            {RuleGap, "qaPairs[0].gapAnalysis.gaps[0].category", true, func(s *Session) { s.Pairs[0].GapAnalysis.Gaps[0].Category = "gap" }, nil},
		"unknown severity":            {RuleGap, "qaPairs[0].gapAnalysis.gaps[0].severity", true, func(s *Session) { s.Pairs[0].GapAnalysis.Gaps[0].Severity = "critical" }, nil},
		"gap without words":           {RuleGap, "qaPairs[0].gapAnalysis.gaps[0].description", true, func(s *Session) { s.Pairs[0].GapAnalysis.Gaps[0].Description = " " }, nil},
		"gap twice":                   {RuleGapID, "qaPairs[1].gapAnalysis.gaps[1].id", false, func(s *Session) { s.Pairs[1].GapAnalysis.Gaps[1].ID = "g1" }, nil},
		"gap of a later pair":         {RuleSince, "qaPairs[0].gapAnalysis.gaps[0].since", false, func(s *Session) { s.Pairs[0].GapAnalysis.Gaps[0].Since = 2 }, nil},
		"gap since before the first":  {RuleSince, "qaPairs[0].gapAnalysis.gaps[0].since", true, func(s *Session) { s.Pairs[0].GapAnalysis.Gaps[0].Since = -1 }, nil},
		"citation of nothing":         {RuleCitation, "qaPairs[1].citations[0].quote", true, func(s *Session) { s.Pairs[1].Citations[0].Quote = "" }, nil},
		"citation of page 0":          {RuleCitation, "qaPairs[1].citations[0].page", true, func(s *Session) { s.Pairs[1].Citations[0].Page = 0 }, nil},
		"citation of chunk -1":        {RuleCitation, "qaPairs[1].citations[0].chunk", true, func(s *Session) { s.Pairs[1].Citations[0].Chunk = -1 }, nil},
		"citation of a short hash":    {RuleCitation, "qaPairs[1].citations[0].chunkHash", true, func(s *Session) { s.Pairs[1].Citations[0].ChunkHash = "sha256:ab" }, nil},
		"hash in capitals":            {RuleCitation, "qaPairs[1].citations[0].chunkHash", true, func(s *Session) { s.Pairs[1].Citations[0].ChunkHash = hashOf("A") }, nil},
		"citation of no document":     {RuleCited, "qaPairs[1].citations[0]", false, func(s *Session) { s.Pairs[1].Citations[0].Document = "other.pdf" }, nil},
		"citation of another version": {RuleCited, "qaPairs[1].citations[0]", false, func(s *Session) { s.Pairs[1].Citations[0].Hash = hashOf("c") }, nil},
		"unknown witness":             {RuleWitness, "witness.kind", true, func(s *Session) { s.Witness.Kind = "person" }, nil},
		"witness without a name":      {RuleWitness, "witness.name", true, func(s *Session) { s.Witness.Name = "" }, nil},
		"document without a hash":     {RuleDocument, "witness.documents[1].hash", true, func(s *Session) { s.Witness.Documents[1].Error = "" }, nil},
		"document twice":              {RuleDocument, "witness.documents[1].name", false, func(s *Session) { s.Witness.Documents[1].Name = "b3.pdf" }, nil},
		"document of -1 pages":        {RuleDocument, "witness.documents[1].pages", true, func(s *Session) { s.Witness.Documents[1].Pages = -1 }, nil},
		"document of -1 chunks":       {RuleDocument, "witness.documents[1].chunks", true, func(s *Session) { s.Witness.Documents[1].Chunks = -1 }, nil},
		"score of 101":                {RuleScore, "auditResult.consistencyScore", true, func(s *Session) { s.AuditResult.ConsistencyScore, s.AuditResult.Sum = 101, Sum{} }, nil},
		"score below 0":               {RuleScore, "auditResult.consistencyScore", true, func(s *Session) { s.AuditResult.ConsistencyScore, s.AuditResult.Sum = -1, Sum{} }, nil},
		"score that is invented":      {RuleSum, "auditResult.consistencyScore", false, func(s *Session) { s.AuditResult.ConsistencyScore++ }, nil},
		"term that is invented":       {RuleSum, "auditResult.sum", false, func(s *Session) { s.AuditResult.Sum.Gaps++ }, nil},
		"contradiction beyond pairs":  {RuleContradicting, "auditResult.contradictions[0].qaPairIndexes[1]", false, func(s *Session) { s.AuditResult.Contradictions[0].Pairs[1] = 3 }, nil},
		"contradiction before pairs":  {RuleContradicting, "auditResult.contradictions[0].qaPairIndexes[0]", true, func(s *Session) { s.AuditResult.Contradictions[0].Pairs[0] = -1 }, nil},
		"contradiction without words": {RuleDescription, "auditResult.contradictions[0].description", true, func(s *Session) { s.AuditResult.Contradictions[0].Description = "" }, nil},
		"unknown kind":                {RuleKind, "auditResult.contradictions[0].kind", true, func(s *Session) { s.AuditResult.Contradictions[0].Kind = "place" }, nil},
		"words that nobody said":      {RuleWords, "auditResult.contradictions[0].words[1]", false, func(s *Session) { s.AuditResult.Contradictions[0].Words[1] = "19 mg" }, nil},
		"words of one answer alone":   {RuleWords, "auditResult.contradictions[0].words[0]", true, func(s *Session) { s.AuditResult.Contradictions[0].Words[0] = "" }, nil},
		"settled by no pair":          {RuleSettled, "auditResult.contradictions[0].settledBy", false, func(s *Session) { s.AuditResult.Contradictions[0].Settled = 4 }, nil},
		"settled before the first":    {RuleSettled, "auditResult.contradictions[0].settledBy", true, func(s *Session) { s.AuditResult.Contradictions[0].Settled = -1 }, nil},
		"gap that is left out":        {RuleRemaining, "auditResult.remainingGaps", false, func(s *Session) { s.AuditResult.RemainingGaps = nil }, nil},
		"gap that was closed": {RuleRemaining, "auditResult.remainingGaps[1]", false, func(s *Session) {
			s.AuditResult.RemainingGaps = append(s.AuditResult.RemainingGaps, RemainingGap{Category: Ambiguity, Description: "it"})
		}, nil},
		"no summary":             {RuleSummary, "auditResult.summary", true, func(s *Session) { s.AuditResult.Summary = "" }, nil},
		"no provisional summary": {RuleSummary, "provisionalAudit.summary", true, func(s *Session) { s.ProvisionalAudit.Summary = "\n" }, failed},
		"too many events":        {RuleMany, "auditTrail", true, func(s *Session) { s.AuditTrail = slices.Repeat(s.AuditTrail, 501) }, nil},
		"too many documents":     {RuleMany, "witness.documents", true, func(s *Session) { s.Witness = Witness{Kind: WitnessModel, Name: "m", Documents: manyDocuments()} }, nil},
		"too many citations":     {RuleMany, "qaPairs[1].citations", true, func(s *Session) { s.Pairs[1].Citations = slices.Repeat(s.Pairs[1].Citations, 101) }, nil},
		"too many ids":           {RuleMany, "qaPairs[2].follows", true, func(s *Session) { s.Pairs[2].Follows = slices.Repeat(s.Pairs[2].Follows, 101) }, nil},
		"too many places":        {RuleMany, "qaPairs[2].about", true, func(s *Session) { s.Pairs[2].About = slices.Repeat(s.Pairs[2].About, 51) }, nil},
		"too many gaps": {RuleMany, "qaPairs[0].gapAnalysis.gaps", true, func(s *Session) {
			s.Pairs[0].GapAnalysis.Gaps = slices.Repeat([]Gap{{Category: Ambiguity, Description: "x", Severity: Low}}, 1001)
		}, nil},
		"too many contradictions": {RuleMany, "auditResult.contradictions", true, func(s *Session) {
			s.AuditResult.Contradictions = slices.Repeat(s.AuditResult.Contradictions, 1001)
			s.rescore()
		}, nil},
		"too many remaining gaps": {RuleMany, "auditResult.remainingGaps", true, func(s *Session) { s.AuditResult.RemainingGaps = slices.Repeat(s.AuditResult.RemainingGaps, 1001) }, nil},
	}
}

func manyDocuments() (all []Document) {
	for i := range 10_001 {
		all = append(all, Document{Name: strings.Repeat("x", i/100+1) + string(rune('0'+i%100)), Error: "x"})
	}
	return all
}

// broken is the session of a breach.
func (b breach) broken() Session {
	of := b.of
	if of == nil {
		of = completed
	}
	s := of()
	b.change(&s)
	return s
}

func TestEachRuleIsBrokenByItself(t *testing.T) {
	tested := map[Rule]bool{RuleForm: true} // of Check alone
	for name, b := range breaches() {
		tested[b.rule] = true
		s := b.broken()
		got := s.Validate()
		for _, v := range got {
			if v.Rule != b.rule || v.Path != b.path || v.Problem == "" {
				t.Errorf("%s breaks “%s” as well: %s", name, v.Rule, v)
			}
		}
		if len(got) != 1 {
			t.Errorf("%s: %d violations, want the one of “%s”: %v", name, len(got), b.rule, got)
		}
	}
	for _, rule := range allRules(t) {
		if !tested[rule] {
			t.Errorf("“%s” is never broken", rule)
		}
	}
}

func TestSessionsOfEveryStatusBreakNoRule(t *testing.T) {
	plain := failed() // as one that knows the requirement alone writes it
	plain.EndReason, plain.ProvisionalAudit = "", nil
	noPairs := failed()
	noPairs.Pairs, noPairs.CurrentIteration = nil, 0
	noPairs.ProvisionalAudit = &Audit{Summary: "Nobody answered.", RemainingGaps: Remaining(nil)}
	noPairs.rescore()
	progress := running()
	progress.ProvisionalAudit = completed().AuditResult
	emptyAnswer := failed()
	emptyAnswer.Pairs[2].Answer = ""
	for name, s := range map[string]Session{"completed": completed(), "failed": failed(), "running": running(), "at its limit": limited(), "of the requirement": plain,
		"failed at once": noPairs, "running with an audit so far": progress, "with an empty answer": emptyAnswer} {
		if got := s.Validate(); len(got) > 0 {
			t.Errorf("%s: %v", name, got)
		}
		if got := Check(must(Marshal(s))(t)); len(got) > 0 {
			t.Errorf("%s, as a text: %v", name, got)
		}
	}
}

func TestAllViolationsAreNamedAtOnce(t *testing.T) {
	s := Session{Status: "x", IterationLimit: 3, CurrentIteration: 1, Pairs: []Pair{{}, {GapAnalysis: GapAnalysis{Gaps: []Gap{{}}}}}}
	seen := map[Rule]bool{}
	for _, v := range s.Validate() {
		seen[v.Rule] = true
	}
	for _, rule := range []Rule{RuleID, RuleHypothesis, RuleStart, RuleStatus, RuleLimit, RulePairs, RuleSequence, RuleQuestion, RuleTimestamp, RuleProvider, RuleGap} {
		if !seen[rule] {
			t.Errorf("“%s” is not named", rule)
		}
	}
}

func TestViolationsOfAProblemNameNoMoreThanNeeded(t *testing.T) {
	s := completed()
	s.ID = strings.Repeat("secret\n", 1000)
	got := s.Validate()
	if len(got) != 1 || len(got[0].Problem) > 300 || strings.Contains(got[0].Problem, "\n") {
		t.Errorf("%v", got)
	}
	if text := string(must(json.Marshal(got[0]))(t)); !strings.Contains(text, `"path":"id","rule":"`+string(RuleID)+`","problem":`) {
		t.Errorf("a violation is shown as %s", text)
	}
}

// allRules reads the rules from their declarations, so that none is forgotten.
func allRules(t *testing.T) (all []Rule) {
	t.Helper()
	for line := range strings.Lines(content(t, "rules.go")) {
		if _, rest, found := strings.Cut(line, " Rule = \""); found {
			rule, _, _ := strings.Cut(rest, `"`)
			all = append(all, Rule(rule))
		}
	}
	if len(all) < 40 {
		t.Fatalf("%d rules are found in rules.go", len(all))
	}
	return all
}
