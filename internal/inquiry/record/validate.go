package record

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// The bounds of an interrogation.
const (
	leastLimit, mostLimit = 5, 20
	enough                = 80 // the completeness from which a detective may be satisfied

	// What a list has at most, so that a file from anywhere costs no more than it is worth.
	mostFindings       = 1000 // gaps of a pair, events
	mostContradictions = 200  // twenty pairs have 190 pairs of pairs
	mostPointers       = 100  // citations of a pair, and what its question points at
	mostDocuments      = 10_000
)

// Validate names every rule that the session breaks; none is nil.
func (s *Session) Validate() []Violation {
	v := validation{s: s}
	v.session()
	v.state()
	v.few("auditTrail", len(s.AuditTrail), mostFindings)
	for i, e := range s.AuditTrail {
		v.event(fmt.Sprintf("auditTrail[%d]", i), e)
	}
	v.witness()
	for i := range s.Pairs {
		v.pair(fmt.Sprintf("qaPairs[%d]", i), i)
	}
	if s.AuditResult != nil {
		v.audit("auditResult", s.AuditResult)
	}
	if s.ProvisionalAudit != nil {
		v.audit("provisionalAudit", s.ProvisionalAudit)
	}
	return v.all
}

type validation struct {
	s   *Session
	all []Violation
}

// hold adds a violation if a rule does not.
func (v *validation) hold(holds bool, path string, rule Rule, format string, args ...any) {
	if !holds {
		v.all = append(v.all, Violation{Path: path, Rule: rule, Problem: fmt.Sprintf(format, args...)})
	}
}

// text wants something to read.
func (v *validation) text(path string, rule Rule, text string) {
	v.hold(!blank(text), path, rule, "it is empty")
}

// time wants a time that is said.
func (v *validation) time(path string, rule Rule, at time.Time) {
	v.hold(!at.IsZero(), path, rule, "it is missing; it would look like 2025-10-05T14:30:22Z")
}

// choice wants one of a few words.
func choice[T ~string](v *validation, path string, rule Rule, got T, of ...T) {
	var words []string
	for _, one := range of {
		words = append(words, string(one))
	}
	v.hold(slices.Contains(of, got), path, rule, "“%s” is none of %s", short(string(got)), strings.Join(words, ", "))
}

// within wants a number of a range.
func (v *validation) within(path string, rule Rule, n, least, most int) {
	v.hold(least <= n && n <= most, path, rule, "it is %d; it has to be from %d to %d", n, least, most)
}

// few wants a list that is not too long, and says whether it is.
func (v *validation) few(path string, n, most int) bool {
	v.hold(n <= most, path, RuleMany, "it has %d values; there may be %d", n, most)
	return n <= most
}

func (v *validation) provider(path string, rule Rule, id string) {
	v.hold(isProvider(id), path, rule, "“%s” is not written as provider:model, such as openai:gpt-4o", short(id))
}

func (v *validation) hash(path string, rule Rule, hash string) {
	v.hold(isHash(hash), path, rule, "“%s” is no hash; it would be sha256: and 64 hex digits", short(hash))
}

func (v *validation) session() {
	s := v.s
	v.hold(isUUID(s.ID), "id", RuleID, "“%s” is no UUID v4; it would look like 3f2b8c1e-9d4a-4b6f-8a7e-5c1d2e3f4a5b", short(s.ID))
	v.text("hypothesis.text", RuleHypothesis, s.Hypothesis.Text)
	v.time("hypothesis.createdAt", RuleHypothesis, s.Hypothesis.CreatedAt)
	v.time("startTime", RuleStart, s.StartTime)
	if s.EndTime != nil {
		v.hold(!s.EndTime.Before(s.StartTime), "endTime", RuleEnd, "it ends at %s, before it begins", s.EndTime.UTC().Format(time.RFC3339))
	}
	v.within("iterationLimit", RuleLimit, s.IterationLimit, leastLimit, mostLimit)
	v.within("currentIteration", RuleIteration, s.CurrentIteration, 0, s.IterationLimit)
	v.hold(len(s.Pairs) == s.CurrentIteration, "qaPairs", RulePairs, "there are %d, and currentIteration is %d", len(s.Pairs), s.CurrentIteration)
	if s.Language != "" {
		choice(v, "language", RuleLanguage, s.Language, "en", "de")
	}
	if s.Detective != "" {
		v.provider("detective", RuleDetective, s.Detective)
	}
}

// state checks what depends on whether, and how, the session has ended.
func (v *validation) state() {
	s := v.s
	choice(v, "status", RuleStatus, s.Status, Running, Completed, Failed, LimitReached)
	if s.Status == Running {
		v.hold(s.EndTime == nil, "endTime", RuleRunning, "it is there, and the session runs")
		v.hold(s.EndReason == "", "endReason", RuleRunning, "it is there, and the session runs")
	} else if s.EndReason != "" {
		to, err := Running.Next(s.EndReason)
		if err != nil {
			v.hold(false, "endReason", RuleEndReason, "%v", err)
		} else {
			v.hold(to == s.Status, "endReason", RuleEndReason, "“%s” leads to %s, and the status is “%s”", s.EndReason, to, short(string(s.Status)))
		}
	}
	v.hold((s.AuditResult != nil) == (s.Status == Completed), "auditResult", RuleAudit, "%s", presence(s.AuditResult, s.Status))
	if s.Status == Completed || s.Status != Running && s.EndReason != "" {
		v.hold((s.ProvisionalAudit != nil) != (s.Status == Completed), "provisionalAudit", RuleProvisional, "%s", presence(s.ProvisionalAudit, s.Status))
	}
	if s.EndReason == Limit {
		v.hold(len(s.Pairs) == s.IterationLimit, "qaPairs", RuleLimitReached, "there are %d, and the limit is %d", len(s.Pairs), s.IterationLimit)
	}
	if s.Status == Completed {
		v.satisfied()
	}
}

// presence says of an audit that it is there, or is not, and should not be so.
func presence(a *Audit, status Status) string {
	if a == nil {
		return fmt.Sprintf("it is missing, and the status is “%s”", short(string(status)))
	}
	return fmt.Sprintf("it is there, and the status is “%s”", short(string(status)))
}

// satisfied checks that the last pair let the detective end.
func (v *validation) satisfied() {
	if len(v.s.Pairs) == 0 {
		v.hold(false, "qaPairs", RuleSatisfied, "there are none, and the session is completed")
		return
	}
	last := len(v.s.Pairs) - 1
	path, a := fmt.Sprintf("qaPairs[%d].gapAnalysis", last), v.s.Pairs[last].GapAnalysis
	v.hold(!a.RequiresFollowUp, path+".requiresFollowUp", RuleSatisfied, "it is true for the last pair of a completed session")
	if v.s.EndReason != Satisfied {
		return
	}
	v.hold(points(a.CompletenessScore) >= enough, path+".completenessScore", RuleSatisfied, "it is %d; a detective is satisfied from %d on", points(a.CompletenessScore), enough)
}

func (v *validation) event(path string, e TrailEntry) {
	v.time(path+".timestamp", RuleEventTime, e.Timestamp)
	choice(v, path+".event", RuleEvent, e.Event, ProviderSwitch, TimeoutEvent, ErrorEvent)
	if e.Event != ProviderSwitch {
		v.hold(e.FromProvider == "", path+".fromProvider", RuleSwitch, "it is there, and the event is no provider_switch")
		v.hold(e.ToProvider == "", path+".toProvider", RuleSwitch, "it is there, and the event is no provider_switch")
	}
}

func (v *validation) witness() {
	w := v.s.Witness
	if w.isZero() {
		return
	}
	choice(v, "witness.kind", RuleWitness, w.Kind, WitnessDocuments, WitnessModel)
	v.text("witness.name", RuleWitness, w.Name)
	v.few("witness.documents", len(w.Documents), mostDocuments)
	seen := map[string]bool{}
	for i, d := range w.Documents {
		path := fmt.Sprintf("witness.documents[%d]", i)
		v.text(path+".name", RuleDocument, d.Name)
		v.hold(!seen[d.Name], path+".name", RuleDocument, "“%s” is the name of another document, too", short(d.Name))
		seen[d.Name] = true
		if d.Error == "" || d.Hash != "" {
			v.hash(path+".hash", RuleDocument, d.Hash)
		}
		v.hold(d.Pages >= 0, path+".pages", RuleDocument, "it is %d; it can't be less than 0", d.Pages)
		v.hold(d.Chunks >= 0, path+".chunks", RuleDocument, "it is %d; it can't be less than 0", d.Chunks)
	}
}

func (w Witness) isZero() bool { return w.Kind == "" && w.Name == "" && len(w.Documents) == 0 }

func (v *validation) pair(path string, i int) {
	p := v.s.Pairs[i]
	v.hold(p.Sequence == i+1, path+".sequence", RuleSequence, "it is %d, and it is pair %d", p.Sequence, i+1)
	v.text(path+".question", RuleQuestion, p.Question)
	v.time(path+".timestamp", RuleTimestamp, p.Timestamp)
	v.hold(p.Timestamp.IsZero() || !p.Timestamp.Before(v.s.StartTime), path+".timestamp", RuleTimestamp, "it is before the session begins")
	v.provider(path+".providerUsed", RuleProvider, p.ProviderUsed)
	v.few(path+".follows", len(p.Follows), mostPointers)
	v.few(path+".about", len(p.About), mostPointers)
	v.few(path+".citations", len(p.Citations), mostPointers)
	v.few(path+".gapAnalysis.gaps", len(p.GapAnalysis.Gaps), mostFindings)
	for j, at := range p.About {
		v.hold(0 <= at && at < i, fmt.Sprintf("%s.about[%d]", path, j), RuleAbout, "%d is not the place of an earlier pair, from 0", at)
	}
	for j, c := range p.Citations {
		v.citation(fmt.Sprintf("%s.citations[%d]", path, j), c)
	}
	a := p.GapAnalysis
	v.within(path+".gapAnalysis.completenessScore", RuleCompleteness, points(a.CompletenessScore), 0, 100)
	v.hold((a.CompletenessScore == nil) == (a.Unjudged != ""), path+".gapAnalysis.completenessScore", RuleCompleteness, "it is left out where nothing was judged, and only there")
	seen := map[string]bool{}
	for j, g := range a.Gaps {
		in := fmt.Sprintf("%s.gapAnalysis.gaps[%d]", path, j)
		v.gap(in, RuleGap, g.Category, g.Description)
		choice(v, in+".severity", RuleGap, g.Severity, Low, Medium, High)
		v.hold(g.ID == "" || !seen[g.ID], in+".id", RuleGapID, "“%s” is the id of another gap of the pair, too", short(g.ID))
		seen[g.ID] = true
		v.hold(0 <= g.Since && g.Since <= i+1, in+".since", RuleSince, "%d is not the sequence of this pair or an earlier one", g.Since)
	}
}

func (v *validation) gap(path string, rule Rule, c Category, description string) {
	choice(v, path+".category", rule, c, MissingInformation, Ambiguity, Inconsistency, Vagueness)
	v.text(path+".description", rule, description)
}

func (v *validation) citation(path string, c Citation) {
	v.text(path+".document", RuleCitation, c.Document)
	v.hash(path+".hash", RuleCitation, c.Hash)
	v.hash(path+".chunkHash", RuleCitation, c.ChunkHash)
	v.hold(c.Page >= 1, path+".page", RuleCitation, "it is %d; pages begin with 1", c.Page)
	v.hold(c.Chunk >= 0, path+".chunk", RuleCitation, "it is %d; chunks begin with 0", c.Chunk)
	v.text(path+".quote", RuleCitation, c.Quote)
	if v.s.Witness.Kind == WitnessDocuments {
		known := slices.ContainsFunc(v.s.Witness.Documents, func(d Document) bool { return d.Name == c.Document && d.Hash == c.Hash })
		v.hold(known, path, RuleCited, "the witness has no document “%s” of this hash", short(c.Document))
	}
}

func (v *validation) audit(path string, a *Audit) {
	v.within(path+".consistencyScore", RuleScore, points(a.ConsistencyScore), 0, 100)
	v.hold((a.ConsistencyScore == nil) == (a.Unjudged != ""), path+".consistencyScore", RuleScore, "it is left out where nothing was judged, and only there")
	if a.Sum != (Sum{}) {
		want := Score(v.s.Pairs, a.Contradictions)
		v.hold(a.Sum.equal(want), path+".sum", RuleSum, "it is %s, and the formula gives %s", a.Sum, want)
		v.hold(points(a.ConsistencyScore) == want.Score, path+".consistencyScore", RuleSum, "it is %d, and the formula gives %d", points(a.ConsistencyScore), want.Score)
	}
	v.few(path+".contradictions", len(a.Contradictions), mostContradictions)
	for i, c := range a.Contradictions[:min(len(a.Contradictions), mostContradictions)] {
		v.contradiction(fmt.Sprintf("%s.contradictions[%d]", path, i), c)
	}
	for i, g := range a.RemainingGaps {
		in := fmt.Sprintf("%s.remainingGaps[%d]", path, i)
		v.gap(in, RuleRemaining, g.Category, g.Description)
		if g.Severity != "" {
			choice(v, in+".severity", RuleRemaining, g.Severity, Low, Medium, High)
		}
	}
	if open := Remaining(v.s.Pairs); v.few(path+".remainingGaps", len(a.RemainingGaps), mostFindings) && len(open) <= mostFindings {
		v.remaining(path+".remainingGaps", a.RemainingGaps, open)
	}
	v.text(path+".summary", RuleSummary, a.Summary)
}

func (v *validation) contradiction(path string, c Contradiction) {
	inRange := true
	for i, at := range c.Pairs {
		ok := 0 <= at && at < len(v.s.Pairs)
		v.hold(ok, fmt.Sprintf("%s.qaPairIndexes[%d]", path, i), RuleContradicting, "%d is not the place of a pair; there are %d, from 0", at, len(v.s.Pairs))
		inRange = inRange && ok
	}
	v.text(path+".description", RuleDescription, c.Description)
	if c.Kind != "" {
		choice(v, path+".kind", RuleKind, c.Kind, KindNumber, KindDate, KindNegation, KindName, KindOther)
	}
	if c.Words != ([2]string{}) && inRange {
		for i, words := range c.Words {
			stands := words != "" && strings.Contains(v.s.Pairs[c.Pairs[i]].Answer, words)
			v.hold(stands, fmt.Sprintf("%s.words[%d]", path, i), RuleWords, "“%s” does not stand in the answer of pair %d", short(words), c.Pairs[i]+1)
		}
	}
	v.hold(0 <= c.Settled && c.Settled <= len(v.s.Pairs), path+".settledBy", RuleSettled, "%d is not the sequence of a pair; there are %d", c.Settled, len(v.s.Pairs))
}

// remaining checks that an audit has the gaps of the last pair, whatever their order.
func (v *validation) remaining(path string, got, open []RemainingGap) {
	for i, g := range got {
		at := slices.IndexFunc(open, func(o RemainingGap) bool {
			return g.Category == o.Category && g.Description == o.Description && (g.Severity == "" || g.Severity == o.Severity) && (g.ID == "" || g.ID == o.ID)
		})
		v.hold(at >= 0, fmt.Sprintf("%s[%d]", path, i), RuleRemaining, "it is not open after the last pair")
		if at >= 0 {
			open = slices.Delete(open, at, at+1)
		}
	}
	for _, o := range open {
		v.hold(false, path, RuleRemaining, "“%s” is open after the last pair, and missing here", short(o.Description))
	}
}
