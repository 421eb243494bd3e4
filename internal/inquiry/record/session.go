package record

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"sibyl/internal/bt"
)

// Status is the state of a session.
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
	Repeated   EndReason = "repeated"  // the detective only repeats its questions
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

// EventKind says what happened besides questions and answers.
type EventKind string

// The events of the audit trail. A reported contradiction that is unverifiable or was taken back is an error, too; its
// reason says which.
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

// Session is an inquiry as its file has it. Times are UTC, whatever their notation in the file. The tags make the
// schema; see package schema.
type Session struct {
	ID               string       `json:"id" form:"UUID"`
	Hypothesis       Hypothesis   `json:"hypothesis"`
	StartTime        time.Time    `json:"startTime"`
	EndTime          *time.Time   `json:"endTime,omitempty" doc:"Left out while it goes on."`
	Status           Status       `json:"status" enum:"running,completed,failed,limit-reached"`
	IterationLimit   int          `json:"iterationLimit" min:"5" max:"20"`
	CurrentIteration int          `json:"currentIteration" min:"0" max:"20" doc:"As many as there are pairs, and no more than iterationLimit."`
	Pairs            []Pair       `json:"qaPairs" max:"20"`
	AuditResult      *Audit       `json:"auditResult,omitempty" doc:"When it is completed, and only then."`
	AuditTrail       []TrailEntry `json:"auditTrail" max:"1000"`

	EndReason        EndReason `json:"endReason,omitempty" enum:"satisfied,limit,no-progress,repeated,collected,stopped,error,timeout" doc:"Why it ended."`
	ProvisionalAudit *Audit    `json:"provisionalAudit,omitempty" doc:"Of every end but a completed one."`
	Resumable        bool      `json:"resumable,omitempty" doc:"It failed for want of a detective, or nobody goes on with it, and its run can be resumed."`
	Language         string    `json:"language,omitempty" enum:"en,de,pt,fr,es"`
	Detective        string    `json:"detective,omitempty" form:"Provider" doc:"provider:model; offline:rules where there is none."`
	Witness          Witness   `json:"witness,omitzero"`
	Run              string    `json:"run,omitempty" doc:"The run of the journal that the session is of."`
}

// Hypothesis is what an interrogation is about.
type Hypothesis struct {
	Text      string    `json:"text" form:"Text"`
	CreatedAt time.Time `json:"createdAt"`
}

// Witness describes the witness.
type Witness struct {
	Kind      string     `json:"kind" enum:"documents,model"`
	Name      string     `json:"name" form:"Text"`
	Documents []Document `json:"documents,omitempty" max:"10000"`
}

// Document is a file that the witness answers from, or one that it could not read.
type Document struct {
	Name   string `json:"name" form:"Text"`
	Hash   string `json:"hash,omitempty" form:"Hash" doc:"Of the file. Left out if it could not be read."`
	Pages  int    `json:"pages" min:"0"`
	Chunks int    `json:"chunks" min:"0"`
	Error  string `json:"error,omitempty" min:"1" doc:"Why it could not be read."`
}

// Pair is a question and its answer.
type Pair struct {
	Sequence     int         `json:"sequence" min:"1" max:"20" doc:"Its place among the pairs, from 1."`
	Question     string      `json:"question" form:"Text"`
	Answer       string      `json:"answer" doc:"Empty if the witness returned nothing."`
	Timestamp    time.Time   `json:"timestamp"`
	GapAnalysis  GapAnalysis `json:"gapAnalysis"`
	ProviderUsed string      `json:"providerUsed" form:"Provider" doc:"The detective's."`

	Strategy       string     `json:"strategy,omitempty" doc:"By which the question was chosen."`
	Aspect         string     `json:"aspect,omitempty" doc:"What the question is about: who, what, when and so on."`
	Follows        []string   `json:"follows,omitempty" max:"100" doc:"Ids of the gaps that the question is about."`
	About          []int      `json:"about,omitempty" max:"100" doc:"Places of earlier pairs, from 0, that the question names."`
	Citations      []Citation `json:"citations,omitempty" max:"100"`
	NotInDocuments bool       `json:"notInDocuments,omitempty" doc:"The documents do not say it."`
	AnsweredBy     string     `json:"answeredBy,omitempty"`
	AnalysedBy     string     `json:"analysedBy,omitempty"`
}

// Citation is a quotation in an answer, and where it is from.
type Citation struct {
	Document  string `json:"document" form:"Text" doc:"Its name."`
	Hash      string `json:"hash" form:"Hash" doc:"Of the file."`
	Page      int    `json:"page" min:"1"`
	Chunk     int    `json:"chunk" min:"0" doc:"From 0."`
	ChunkHash string `json:"chunkHash" form:"Hash"`
	Quote     string `json:"quote" form:"Text" doc:"Word for word of the chunk."`
}

// GapAnalysis is what an answer leaves open, with what was open before and still is.
type GapAnalysis struct {
	Gaps              []Gap  `json:"gaps" max:"1000" doc:"All that are open after this answer."`
	CompletenessScore *int   `json:"completenessScore,omitempty" min:"0" max:"100" doc:"Left out where no model has judged the answer."`
	RequiresFollowUp  bool   `json:"requiresFollowUp"`
	Unjudged          string `json:"unjudged,omitempty" min:"1" doc:"Why no model has judged the answer."`
	bt.Coded
}

// Gap is something that is missing or unclear.
type Gap struct {
	Category    Category `json:"category" enum:"missing_information,ambiguity,inconsistency,vagueness"`
	Description string   `json:"description" form:"Text"`
	Severity    Severity `json:"severity" enum:"low,medium,high"`

	ID     string `json:"id,omitempty"`
	Aspect string `json:"aspect,omitempty"`
	Since  int    `json:"since,omitempty" min:"0" max:"20" doc:"The sequence of the pair in which it was first seen."`
}

// Contradiction is two quotations that can't both hold. They identify it.
type Contradiction struct {
	Pairs       [2]int `json:"qaPairIndexes" doc:"The places of the two pairs, from 0; twice the same for two quotations of one answer."`
	Description string `json:"description" form:"Text"`

	Kind        Kind      `json:"kind,omitempty" enum:"number,date,negation,name,other"`
	Words       [2]string `json:"words,omitzero" doc:"The two quotations, word for word as they stand in the answers or documents."`
	Places      [2]Place  `json:"places,omitzero" doc:"Where each quotation stands, if in a document."`
	Settled     int       `json:"settledBy,omitempty" min:"0" max:"20" doc:"The sequence of the pair whose answer left it standing."`
	Unconfirmed bool      `json:"unconfirmed,omitempty" doc:"The witness could not be asked about it any more."`
}

// Bearing is a quotation that bears on the hypothesis.
type Bearing struct {
	Says  string `json:"says" enum:"for,against" doc:"What it says about the hypothesis."`
	Pair  int    `json:"pair" min:"1" max:"20" doc:"The sequence of its pair."`
	Words string `json:"words" min:"1" form:"Text" doc:"Word for word as they stand in the answer or document."`
	Place Place  `json:"place,omitzero" doc:"Where it stands, if in a document."`
}

// Where names the document and page of a quotation; "" for one of an answer.
func (p Place) Where() string {
	if p.Document == "" {
		return ""
	}
	return fmt.Sprintf("%s, page %d", p.Document, p.Page)
}

// Place is where a quotation is in the documents. It is zero for a quotation of an answer.
type Place struct {
	Document string `json:"document,omitempty" form:"Text"`
	Page     int    `json:"page,omitempty" min:"1"`
}

// Unverified is a contradiction that a model reported, but whose quotations are in no answer and no document. It is not
// counted.
type Unverified struct {
	Description string    `json:"description" form:"Text"`
	Words       [2]string `json:"words,omitzero" doc:"As they were reported."`
	Pair        int       `json:"pair" min:"1" max:"20" doc:"The sequence of the pair after which it was reported."`
	Reason      string    `json:"reason" form:"Text" doc:"Why it can't be verified."`
	bt.Coded
}

// RemainingGap is a gap that is open at the end.
type RemainingGap struct {
	Category    Category `json:"category" enum:"missing_information,ambiguity,inconsistency,vagueness"`
	Description string   `json:"description" form:"Text"`

	Severity Severity `json:"severity,omitempty" enum:"low,medium,high"`
	ID       string   `json:"id,omitempty"`
}

// Audit is the result of an inquiry.
type Audit struct {
	ConsistencyScore *int            `json:"consistencyScore,omitempty" min:"0" max:"100" doc:"Left out where no model has judged the inquiry to its end."`
	Evidence         []Bearing       `json:"evidence,omitempty" max:"200" doc:"What bears on the hypothesis. Without any, it is open."`
	Contradictions   []Contradiction `json:"contradictions" max:"200"`
	RemainingGaps    []RemainingGap  `json:"remainingGaps" max:"1000" doc:"Those of the last pair."`
	Unverified       []Unverified    `json:"unverified,omitempty" max:"1000" doc:"Contradictions that were reported, and whose quotations stand nowhere. They are not counted."`
	Summary          string          `json:"summary" form:"Text" doc:"Markdown."`
	Unjudged         string          `json:"unjudged,omitempty" min:"1" doc:"Why no model has judged the inquiry to its end."`
	bt.Coded

	Sum Sum    `json:"sum,omitzero" doc:"How the score comes about: score = max(0, round(base - contradictions - gaps - shortfall))."`
	By  string `json:"by,omitempty" doc:"Who wrote the summary."`
}

// TrailEntry is an event besides questions and answers.
type TrailEntry struct {
	Timestamp    time.Time `json:"timestamp"`
	Event        EventKind `json:"event" enum:"provider_switch,timeout,error"`
	FromProvider string    `json:"fromProvider,omitempty" doc:"Of a provider_switch only."`
	ToProvider   string    `json:"toProvider,omitempty" doc:"Of a provider_switch only."`
	Reason       string    `json:"reason"`
	bt.Coded
}

// Judged says whether a model is the detective. Otherwise quotations are collected, and nothing is judged.
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

// Silent says whether no answer says anything.
func (s *Session) Silent() bool {
	return !slices.ContainsFunc(s.Pairs, func(p Pair) bool {
		return !p.NotInDocuments && strings.TrimSpace(p.Answer) != ""
	})
}

// OfflineRules is the name in place of a detective, in a session without a model.
const OfflineRules = "offline:rules"

// Audit is the audit of the session, provisional or not; nil if there is none.
func (s *Session) Audit() *Audit {
	if s.AuditResult != nil {
		return s.AuditResult
	}
	return s.ProvisionalAudit
}

// Remaining are the gaps that are open after the last pair, in the form of an audit; empty, never nil, if there are
// none.
func Remaining(pairs []Pair) []RemainingGap {
	all := []RemainingGap{}
	if len(pairs) > 0 {
		for _, g := range pairs[len(pairs)-1].GapAnalysis.Gaps {
			all = append(all, RemainingGap{Category: g.Category, Description: g.Description, Severity: g.Severity,
				ID: g.ID})
		}
	}
	return all
}
