package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
)

// LeastComplete is the lowest completeness at which the detective may be satisfied.
const LeastComplete = 80

// Rule is a rule that a session can break.
type Rule string

// The rules that a violation may break.
const (
	RuleForm  Rule = "it is a JSON text of the schema"
	RuleSum   Rule = "the sum and the score are those of the formula"
	RuleAgree Rule = "its parts agree" // what no schema can say
)

// Violation is a rule that a session breaks.
type Violation struct {
	Path    string `json:"path"` // "qaPairs[2].about[0]"; "" for the whole
	Rule    Rule   `json:"rule"`
	Problem string `json:"problem"` // what is wrong
}

func (v Violation) String() string {
	if v.Path == "" {
		return v.Problem
	}
	return v.Path + ": " + v.Problem
}

// resolved is the resolved schema. Resolving takes milliseconds.
var resolved = sync.OnceValues(func() (*jsonschema.Resolved, error) { return form().Resolve(nil) })

// Check returns the violations in the JSON text of a session: the first one of the schema, or else all that Validate
// finds. nil: none.
func Check(content []byte) []Violation {
	var value any
	if err := json.Unmarshal(content, &value); err != nil {
		return []Violation{{Rule: RuleForm, Problem: "it is no JSON: " + err.Error()}}
	}
	s, err := Unmarshal(content)
	schema, broken := resolved()
	if err = errors.Join(err, broken); err == nil {
		err = schema.Validate(value)
	}
	if err != nil {
		return []Violation{{Rule: RuleForm,
			Problem: strings.ReplaceAll(strings.TrimPrefix(err.Error(), "validating root: "), "validating ", "at ")}}
	}
	return s.Validate()
}

// Validate returns the violations of rules that the schema can't express.
func (s *Session) Validate() []Violation {
	v := validation{s: s}
	v.require(isUUID(s.ID), "id", "“%s” is no UUID v4", short(s.ID)) // it names a file
	v.checkEnding()
	v.checkTimes()
	v.checkCounts()
	v.checkWitness()
	for i := range s.Pairs {
		v.checkPair(i)
	}
	if s.Status == Completed {
		v.checkSatisfied()
	}
	if a := s.Audit(); a != nil {
		v.checkAudit(a)
	}
	return v.all
}

// validation collects the violations of a session.
type validation struct {
	s   *Session
	all []Violation
}

// require adds a violation unless the condition holds.
func (v *validation) require(holds bool, path, format string, args ...any) {
	if !holds {
		v.all = append(v.all, Violation{Path: path, Rule: RuleAgree, Problem: fmt.Sprintf(format, args...)})
	}
}

// checkEnding checks that status, reason, end time and audits agree.
func (v *validation) checkEnding() {
	s := v.s
	becomes, err := s.EndReason.Status()
	v.require(s.EndReason == "" || err == nil && becomes == s.Status, "endReason",
		"“%s” is no reason for a session that is %s", short(string(s.EndReason)), short(string(s.Status)))
	v.require(s.EndTime == nil || s.Status != Running, "endTime", "the session goes on")
	done := s.Status == Completed
	v.require(done == (s.AuditResult != nil), "auditResult", "a session has one when it is completed, and only then")
	v.require(!done || s.AuditResult == nil || s.AuditResult.ConsistencyScore != nil, "auditResult.consistencyScore",
		"it is missing, and the session is completed")
	v.require(!done || s.ProvisionalAudit == nil, "provisionalAudit", "the session is completed")
	v.require(done || s.EndReason == "" || s.ProvisionalAudit != nil, "provisionalAudit",
		"it is missing, and the session has ended")
	for i, e := range s.AuditTrail {
		v.require(e.Event == ProviderSwitch || e.FromProvider+e.ToProvider == "", fmt.Sprintf("auditTrail[%d]", i),
			"it names a provider, and is no provider_switch")
	}
}

func (v *validation) checkTimes() {
	s := v.s
	v.require(s.EndTime == nil || !s.EndTime.Before(s.StartTime), "endTime", "it is before startTime")
	for i, p := range s.Pairs {
		v.require(!p.Timestamp.Before(s.StartTime), fmt.Sprintf("qaPairs[%d].timestamp", i),
			"it is before the session begins")
	}
}

func (v *validation) checkCounts() {
	s := v.s
	n := len(s.Pairs)
	v.require(n == s.CurrentIteration, "qaPairs", "there are %d, and currentIteration is %d", n, s.CurrentIteration)
	v.require(n <= s.IterationLimit, "currentIteration", "it is %d, and the limit is %d", n, s.IterationLimit)
	v.require(s.EndReason != Limit || n == s.IterationLimit, "qaPairs",
		"there are %d, and the limit that was reached is %d", n, s.IterationLimit)
}

func (v *validation) checkWitness() {
	seen := map[string]bool{}
	for i, d := range v.s.Witness.Documents {
		v.require(!seen[d.Name], fmt.Sprintf("witness.documents[%d].name", i), "“%s” is the name of another document, too",
			short(d.Name))
		seen[d.Name] = true
		v.require(d.Hash+d.Error != "", fmt.Sprintf("witness.documents[%d].hash", i),
			"it is missing, and no error says why")
	}
}

// hasDocument says whether the witness has a document with this name and hash; "" is any hash.
func (v *validation) hasDocument(name, hash string) bool {
	return slices.ContainsFunc(v.s.Witness.Documents, func(d Document) bool {
		return d.Name == name && (hash == "" || d.Hash == hash)
	})
}

func (v *validation) checkPair(i int) {
	p := &v.s.Pairs[i]
	path := fmt.Sprintf("qaPairs[%d]", i)
	v.require(p.Sequence == i+1, path+".sequence", "it is %d, and it is pair %d", p.Sequence, i+1)
	for j, at := range p.About {
		v.require(0 <= at && at < i, fmt.Sprintf("%s.about[%d]", path, j), "%d is not the place of an earlier pair", at)
	}
	for j, c := range p.Citations {
		known := v.s.Witness.Kind != WitnessDocuments || v.hasDocument(c.Document, c.Hash)
		v.require(known, fmt.Sprintf("%s.citations[%d]", path, j), "the witness has no document “%s” of this hash",
			short(c.Document))
	}
	g := &p.GapAnalysis
	v.require((g.CompletenessScore == nil) == (g.Unjudged != ""), path+".gapAnalysis.completenessScore",
		"it is left out where no model has judged, and only there")
	ids := map[string]bool{}
	for j, gap := range g.Gaps {
		in := fmt.Sprintf("%s.gapAnalysis.gaps[%d]", path, j)
		v.require(gap.ID == "" || !ids[gap.ID], in+".id", "“%s” is the id of another gap of the pair, too", short(gap.ID))
		ids[gap.ID] = true
		v.require(gap.Since <= i+1, in+".since", "%d is a later pair", gap.Since)
	}
}

// checkSatisfied checks that the last pair allows a completed session.
func (v *validation) checkSatisfied() {
	last := len(v.s.Pairs) - 1
	if last < 0 {
		v.require(false, "qaPairs", "there are none, and the session is completed")
		return
	}
	path, a := fmt.Sprintf("qaPairs[%d].gapAnalysis", last), v.s.Pairs[last].GapAnalysis
	v.require(!a.RequiresFollowUp, path+".requiresFollowUp", "it is true for the last pair of a completed session")
	if v.s.EndReason == Satisfied {
		v.require(valueOrZero(a.CompletenessScore) >= LeastComplete, path+".completenessScore",
			"it is less than %d, from which a detective is satisfied", LeastComplete)
	}
}

func (v *validation) checkAudit(a *Audit) {
	path := "auditResult"
	if v.s.AuditResult == nil {
		path = "provisionalAudit"
	}
	v.require((a.ConsistencyScore == nil) == (a.Unjudged != ""), path+".consistencyScore",
		"it is left out where no model has judged, and only there")
	if a.ConsistencyScore != nil || a.Sum != (Sum{}) {
		want := Score(v.s.Pairs, a.Contradictions)
		if earlier := earlierScore(v.s.Pairs, a.Contradictions); a.Sum == earlier {
			want = earlier
		}
		given := a.Sum == Sum{} || a.Sum == want
		if !given || a.ConsistencyScore == nil || *a.ConsistencyScore != want.Score {
			problem := fmt.Sprintf("it is %s, the score is %d, and the formula gives %s", a.Sum,
				valueOrZero(a.ConsistencyScore), want)
			v.all = append(v.all, Violation{path + ".sum", RuleSum, problem})
		}
	}
	for i, e := range a.Evidence {
		at := fmt.Sprintf("%s.evidence[%d]", path, i)
		switch {
		case e.Pair < 1 || e.Pair > len(v.s.Pairs):
			v.require(false, at+".pair", "there is no pair %d", e.Pair)
		case e.Place.Document != "":
			v.require(v.hasDocument(e.Place.Document, ""), at+".place", "the witness has no document “%s”",
				short(e.Place.Document))
		default:
			v.require(strings.Contains(v.s.Pairs[e.Pair-1].Answer, e.Words), at+".words",
				"“%s” does not stand in the answer of pair %d", short(e.Words), e.Pair)
		}
	}
	for i := range a.Contradictions {
		v.checkContradiction(fmt.Sprintf("%s.contradictions[%d]", path, i), &a.Contradictions[i])
	}
	v.require(slices.Equal(a.RemainingGaps, Remaining(v.s.Pairs)), path+".remainingGaps",
		"they are not the gaps that are open after the last pair")
}

func (v *validation) checkContradiction(path string, c *Contradiction) {
	v.require(c.Settled <= len(v.s.Pairs), path+".settledBy", "there is no pair %d", c.Settled)
	for i, at := range c.Pairs {
		if at < 0 || at >= len(v.s.Pairs) {
			v.require(false, fmt.Sprintf("%s.qaPairIndexes[%d]", path, i),
				"%d is not the place of a pair; there are %d, from 0", at, len(v.s.Pairs))
			continue
		}
		words, place := c.Words[i], c.Places[i]
		v.require(words != "" || c.Words == [2]string{}, fmt.Sprintf("%s.words[%d]", path, i), "it is empty")
		if place.Document != "" {
			v.require(v.hasDocument(place.Document, ""), fmt.Sprintf("%s.places[%d]", path, i),
				"the witness has no document “%s”", short(place.Document))
		} else {
			v.require(strings.Contains(v.s.Pairs[at].Answer, words), fmt.Sprintf("%s.words[%d]", path, i),
				"“%s” does not stand in the answer of pair %d", short(words), at+1)
		}
	}
}
