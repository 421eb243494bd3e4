package record

import (
	"strings"
	"time"

	"sibyl/internal/bt"
)

// Status says how far an interrogation is.
type Status string

// The statuses of a session.
const (
	Running      Status = "running"
	Completed    Status = "completed" // the detective is satisfied
	Failed       Status = "failed"
	LimitReached Status = "limit-reached"
)

// EndReason says why a session ended.
type EndReason string

// The reasons of an end.
const (
	Satisfied  EndReason = "satisfied"
	Limit      EndReason = "limit"
	NoProgress EndReason = "no-progress"
	Collected  EndReason = "collected" // without a detective: quotations were collected, and nothing was judged
	Stopped    EndReason = "stopped"   // by the person
	Broken     EndReason = "error"
	TimedOut   EndReason = "timeout"
)

// Category says what kind of gap an answer leaves.
type Category string

// The categories of gaps.
const (
	MissingInformation Category = "missing_information"
	Ambiguity          Category = "ambiguity"
	Inconsistency      Category = "inconsistency"
	Vagueness          Category = "vagueness"
)

// String is the category in words.
func (c Category) String() string { return strings.ReplaceAll(string(c), "_", " ") }

// Severity says how much a gap weighs.
type Severity string

// The severities of gaps.
const (
	Low    Severity = "low"
	Medium Severity = "medium"
	High   Severity = "high"
)

// Kind says what clashes in a contradiction.
type Kind string

// The kinds of contradictions.
const (
	KindNumber   Kind = "number"
	KindDate     Kind = "date"
	KindNegation Kind = "negation"
	KindName     Kind = "name"
	KindOther    Kind = "other"
)

// EventKind says what happened beside questions and answers.
type EventKind string

// The events of the audit trail. What a model reported and could not be used, or was taken back, is an error, too: its reason says which.
const (
	ProviderSwitch EventKind = "provider_switch"
	TimeoutEvent   EventKind = "timeout"
	ErrorEvent     EventKind = "error"
)

// What a witness is.
const (
	WitnessDocuments = "documents"
	WitnessModel     = "model"
)

// Session is an interrogation: what its file holds. Times are UTC, whatever their notation in the file.
type Session struct {
	ID               string       `json:"id"` // UUID v4
	Hypothesis       Hypothesis   `json:"hypothesis"`
	StartTime        time.Time    `json:"startTime"`
	EndTime          *time.Time   `json:"endTime,omitempty"` // nil while it runs
	Status           Status       `json:"status"`
	IterationLimit   int          `json:"iterationLimit"`   // 5 to 20
	CurrentIteration int          `json:"currentIteration"` // as many as there are pairs
	Pairs            []Pair       `json:"qaPairs"`
	AuditResult      *Audit       `json:"auditResult,omitempty"` // when it is completed, and only then
	AuditTrail       []TrailEntry `json:"auditTrail"`

	EndReason        EndReason `json:"endReason,omitempty"`        // "": it runs, or the file does not say
	ProvisionalAudit *Audit    `json:"provisionalAudit,omitempty"` // of every end but a completed one
	Resumable        bool      `json:"resumable,omitempty"`        // it failed for want of a detective, and its run can be resumed
	Language         string    `json:"language,omitempty"`         // "en", "de", "pt", "fr" or "es"; "": not said
	Detective        string    `json:"detective,omitempty"`        // "provider:model"; "offline:rules" where there is none
	Witness          Witness   `json:"witness,omitzero"`
	Run              string    `json:"run,omitempty"` // the run of the journal that it is of
}

// Hypothesis is what an interrogation is about.
type Hypothesis struct {
	Text      string    `json:"text"`
	CreatedAt time.Time `json:"createdAt"`
}

// Witness is who answers.
type Witness struct {
	Kind      string     `json:"kind"` // WitnessDocuments or WitnessModel
	Name      string     `json:"name"`
	Documents []Document `json:"documents,omitempty"`
}

// Document is a file that the witness answers from, or one that it could not read.
type Document struct {
	Name   string `json:"name"`
	Hash   string `json:"hash,omitempty"` // "sha256:" and hex digits, of the file; "" if it could not be read
	Pages  int    `json:"pages"`
	Chunks int    `json:"chunks"`
	Error  string `json:"error,omitempty"` // why it could not be read
}

// Pair is a question and its answer.
type Pair struct {
	Sequence     int         `json:"sequence"` // from 1: its place among the pairs, and one
	Question     string      `json:"question"`
	Answer       string      `json:"answer"` // may be empty
	Timestamp    time.Time   `json:"timestamp"`
	GapAnalysis  GapAnalysis `json:"gapAnalysis"`
	ProviderUsed string      `json:"providerUsed"` // the detective's, "provider:model"

	Strategy       string     `json:"strategy,omitempty"`
	Aspect         string     `json:"aspect,omitempty"`
	Follows        []string   `json:"follows,omitempty"` // ids of the gaps that it asks about
	About          []int      `json:"about,omitempty"`   // places of earlier pairs, from 0, that the question names
	Citations      []Citation `json:"citations,omitempty"`
	NotInDocuments bool       `json:"notInDocuments,omitempty"`
	AnsweredBy     string     `json:"answeredBy,omitempty"`
	AnalysedBy     string     `json:"analysedBy,omitempty"`
}

// Citation is where an answer has its words from.
type Citation struct {
	Document  string `json:"document"` // its name
	Hash      string `json:"hash"`     // "sha256:" and hex digits, of the file
	Page      int    `json:"page"`     // from 1
	Chunk     int    `json:"chunk"`    // from 0
	ChunkHash string `json:"chunkHash"`
	Quote     string `json:"quote"` // verbatim of the chunk
}

// GapAnalysis is what an answer leaves open, with what was open before and still is.
type GapAnalysis struct {
	Gaps              []Gap  `json:"gaps"`
	CompletenessScore *int   `json:"completenessScore,omitempty"` // 0 to 100; nil: Unjudged
	RequiresFollowUp  bool   `json:"requiresFollowUp"`
	Unjudged          string `json:"unjudged,omitempty"` // why no model has judged the answer
	bt.Coded
}

// Gap is something that is missing or unclear.
type Gap struct {
	Category    Category `json:"category"`
	Description string   `json:"description"`
	Severity    Severity `json:"severity"`

	ID     string `json:"id,omitempty"`
	Aspect string `json:"aspect,omitempty"`
	Since  int    `json:"since,omitempty"` // the sequence of the pair in which it was first seen
}

// Contradiction is two quotations that can't both hold. They are what it is known by.
type Contradiction struct {
	Pairs       [2]int `json:"qaPairIndexes"` // places of the pairs, from 0; twice the same for two quotations of one answer
	Description string `json:"description"`

	Kind        Kind      `json:"kind,omitempty"`
	Words       [2]string `json:"words,omitzero"`        // the quotations, verbatim of the answers or documents
	Places      [2]Place  `json:"places,omitzero"`       // where each quotation stands, if in a document
	Settled     int       `json:"settledBy,omitempty"`   // the sequence of the pair whose answer left it standing
	Unconfirmed bool      `json:"unconfirmed,omitempty"` // the witness could not be asked about it any more
}

// Place is where a quotation stands in the documents. It is zero for words of a witness that is a model.
type Place struct {
	Document string `json:"document,omitempty"`
	Page     int    `json:"page,omitempty"` // from 1
}

// Finding is a contradiction that a model reported, and whose quotations stand in no answer and no document. It is not counted.
type Finding struct {
	Description string    `json:"description"`
	Words       [2]string `json:"words,omitzero"` // as the model gave them
	Pair        int       `json:"pair"`           // the sequence of the pair after which it was reported
	Reason      string    `json:"reason"`         // why it can't be verified
	bt.Coded
}

// RemainingGap is a gap that is open at the end.
type RemainingGap struct {
	Category    Category `json:"category"`
	Description string   `json:"description"`

	Severity Severity `json:"severity,omitempty"`
	ID       string   `json:"id,omitempty"`
}

// Audit is what comes of an interrogation.
type Audit struct {
	ConsistencyScore *int            `json:"consistencyScore,omitempty"` // 0 to 100; nil: Unjudged
	Contradictions   []Contradiction `json:"contradictions"`
	RemainingGaps    []RemainingGap  `json:"remainingGaps"`
	Unverified       []Finding       `json:"unverified,omitempty"`
	Summary          string          `json:"summary"`            // Markdown
	Unjudged         string          `json:"unjudged,omitempty"` // why no model has judged the inquiry to its end
	bt.Coded

	Sum Sum    `json:"sum,omitzero"`
	By  string `json:"by,omitempty"` // who wrote the summary
}

// TrailEntry is something that happened beside questions and answers.
type TrailEntry struct {
	Timestamp    time.Time `json:"timestamp"`
	Event        EventKind `json:"event"`
	FromProvider string    `json:"fromProvider,omitempty"` // of a ProviderSwitch only
	ToProvider   string    `json:"toProvider,omitempty"`   // of a ProviderSwitch only
	Reason       string    `json:"reason"`
	bt.Coded
}

// Judged says whether a model examined the witness, or is to. Otherwise quotations are collected, and nothing is judged.
func (s *Session) Judged() bool { return s.Detective != OfflineRules }

// JudgedPairs counts the pairs whose answer a model has judged.
func (s *Session) JudgedPairs() (n int) {
	for _, p := range s.Pairs {
		if p.GapAnalysis.CompletenessScore != nil {
			n++
		}
	}
	return n
}

// OfflineRules is the detective of a session that has none.
const OfflineRules = "offline:rules"

// Audit is the audit of the session, provisional or not; nil if there is none.
func (s *Session) Audit() *Audit {
	if s.AuditResult != nil {
		return s.AuditResult
	}
	return s.ProvisionalAudit
}

// Remaining are the gaps that are open after the last pair, in the form of an audit; empty, never nil, if there are none.
func Remaining(pairs []Pair) []RemainingGap {
	all := []RemainingGap{}
	if len(pairs) > 0 {
		for _, g := range pairs[len(pairs)-1].GapAnalysis.Gaps {
			all = append(all, RemainingGap{Category: g.Category, Description: g.Description, Severity: g.Severity, ID: g.ID})
		}
	}
	return all
}
