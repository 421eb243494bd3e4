package record

// Rule names a rule of the form of a session.
type Rule string

// The rules that Validate checks.
const (
	RuleID            Rule = "id is a UUID v4"
	RuleHypothesis    Rule = "the hypothesis has a text and a time"
	RuleStart         Rule = "startTime is a time"
	RuleEnd           Rule = "endTime is not before startTime"
	RuleRunning       Rule = "a running session has neither endTime nor endReason"
	RuleStatus        Rule = "status is one of four"
	RuleEndReason     Rule = "endReason leads to the status"
	RuleLimit         Rule = "iterationLimit is 5 to 20"
	RuleIteration     Rule = "currentIteration is 0 to iterationLimit"
	RulePairs         Rule = "there are as many pairs as currentIteration says"
	RuleLimitReached  Rule = "a session that ends at its limit has as many pairs"
	RuleSatisfied     Rule = "a completed session ends with a satisfied detective"
	RuleAudit         Rule = "auditResult is there when completed, and only then"
	RuleProvisional   Rule = "provisionalAudit is there at every other end, and never when completed"
	RuleLanguage      Rule = "language is en or de"
	RuleDetective     Rule = "detective is provider:model"
	RuleEventTime     Rule = "an event has a time"
	RuleEvent         Rule = "an event is one of three"
	RuleSwitch        Rule = "only a switch names providers"
	RuleSequence      Rule = "sequence is the place of the pair, from 1"
	RuleQuestion      Rule = "a question is not empty"
	RuleTimestamp     Rule = "a pair is not before startTime"
	RuleProvider      Rule = "providerUsed is provider:model"
	RuleAbout         Rule = "a question is about earlier pairs"
	RuleCompleteness  Rule = "completenessScore is 0 to 100"
	RuleGap           Rule = "a gap has a category, a severity and a description"
	RuleGapID         Rule = "the id of a gap stands once in a pair"
	RuleSince         Rule = "a gap was first seen in this pair or before"
	RuleCitation      Rule = "a citation names document, page, chunk and quote, with their hashes"
	RuleCited         Rule = "what is cited is a document of the witness"
	RuleWitness       Rule = "a witness is documents or a model"
	RuleDocument      Rule = "a document has a name of its own and a hash, or says why it could not be read"
	RuleScore         Rule = "consistencyScore is 0 to 100"
	RuleSum           Rule = "the sum and the score are those of the formula"
	RuleContradicting Rule = "a contradiction points at pairs"
	RuleDescription   Rule = "a contradiction has a description"
	RuleKind          Rule = "the kind of a contradiction is one of five"
	RuleWords         Rule = "the words of a contradiction stand in its answers"
	RuleSettled       Rule = "a contradiction is settled by one of the pairs"
	RuleRemaining     Rule = "the remaining gaps are those of the last pair"
	RuleSummary       Rule = "an audit has a summary"
	RuleMany          Rule = "no list is longer than a person would read"
	RuleForm          Rule = "it is a JSON text of the schema" // of Check alone
)

// Violation is a rule that a session breaks.
type Violation struct {
	Path    string `json:"path"` // "qaPairs[2].gapAnalysis.gaps[0].severity"; "" for the whole
	Rule    Rule   `json:"rule"`
	Problem string `json:"problem"` // what is wrong, and what it should be
}

func (v Violation) String() string {
	if v.Path == "" {
		return v.Problem
	}
	return v.Path + ": " + v.Problem
}
