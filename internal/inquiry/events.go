package inquiry

import (
	"strings"

	"sibyl/internal/agent"
	"sibyl/internal/bt"
	"sibyl/internal/inquiry/record"
	"sibyl/internal/text"
)

// Events has one event of each type.
func Events() []bt.Typed {
	return []bt.Typed{WitnessOpened{}, QuestionPut{}, AnswerHeard{}, AnalysisFailed{}, DetectiveSwitched{},
		LedgerKept{}, Ended{}, agent.NotOwn{}, agent.RequestCut{}}
}

func eventReasons() []bt.Reason {
	return []bt.Reason{witnessIs, documentsRead, documentsUnread, severalDocuments, quotationsBy, searchedByMeaning,
		sentForMeaning, questionPut, answerHeard, nothingHeard, noFurther,
		analysisFailed, detectiveSwitched, judged, collectedSoFar,
		askedEnough, askedAll, gotNoFurther, onlyRepeated, collected, toldToStop, brokeOff, ranOutOfTime,
		agent.SaidNotOwn, agent.SaidCut}
}

// WitnessOpened says who the witness is.
type WitnessOpened struct {
	Name      string   `json:"name"`
	bt.Coded           // of the name, if it means several documents
	Documents int      `json:"documents,omitempty"`
	Chunks    int      `json:"chunks,omitempty"`
	Unread    []string `json:"unread,omitempty"` // documents that can't be read, each with the reason

	Embeddings string `json:"embeddings,omitempty"` // the model that finds passages by their meaning, provider:model
	Away       bool   `json:"away,omitempty"`       // passages and questions leave the person's machines for it
	// chooses quotations from the passages that were found
	Model string `json:"model,omitempty"`
}

const (
	witnessIs        bt.Reason = "story.read.witness: The witness is {name}"
	documentsRead    bt.Reason = "story.read.documents: Read the documents of {name}: {n}"
	documentsUnread  bt.Reason = "story.read.unread: Read the documents of {name}: {n}; could not read {which}"
	severalDocuments bt.Reason = "witness.several: {name} and {n} more documents"
	quotationsBy     bt.Reason = "witness.quotes: {model} is given the passages that are found for each question, " +
		"and chooses the quotations"
	searchedByMeaning bt.Reason = "witness.meaning: The passages are also searched by meaning, with {model}"
	sentForMeaning    bt.Reason = "witness.away: All passages and the questions are sent to {model}, which is not on " +
		"your machines, to search by meaning"
)

// EventType implements bt.Typed.
func (WitnessOpened) EventType() string { return "witness.opened" }

// Story implements bt.Narrated. It says which models are given passages.
func (e WitnessOpened) Story() bt.Why {
	name := bt.Why{Text: e.Name, Coded: e.Coded}
	var told bt.Why
	switch {
	case e.Documents == 0:
		told = witnessIs.With(name)
	case len(e.Unread) > 0:
		told = documentsUnread.With(name, e.Documents, strings.Join(e.Unread, ", "))
	default:
		told = documentsRead.With(name, e.Documents)
	}
	if e.Model != "" {
		told = bt.Both(told, quotationsBy.With(e.Model))
	}
	switch {
	case e.Away:
		told = bt.Both(told, sentForMeaning.With(e.Embeddings))
	case e.Embeddings != "":
		told = bt.Both(told, searchedByMeaning.With(e.Embeddings))
	}
	return told
}

// QuestionPut is a question of the detective.
type QuestionPut struct {
	Number   int    `json:"number"`
	Text     string `json:"text"`
	Strategy string `json:"strategy"`
	By       string `json:"by"`
}

const questionPut bt.Reason = "story.thought.question: Asked question {n}: “{words}”"

// mostQuoted bounds the characters of a question or an answer in a story.
const mostQuoted = 400

// EventType implements bt.Typed.
func (QuestionPut) EventType() string { return "question.put" }

// Story implements bt.Narrated.
func (e QuestionPut) Story() bt.Why {
	return questionPut.With(e.Number, text.Brief(e.Text, mostQuoted))
}

// AnswerHeard is an answer of the witness.
type AnswerHeard struct {
	Number   int    `json:"number"`
	Text     string `json:"text"`
	NotFound bool   `json:"not_found,omitempty"`
	Further  bool   `json:"further,omitempty"` // with NotFound: earlier answers quote the passages on it
	By       string `json:"by"`

	Notes agent.Whys `json:"notes,omitempty"` // what went wrong beside the answer
}

const (
	answerHeard  bt.Reason = "story.heard.answer: The answer: “{words}”"
	nothingHeard bt.Reason = "story.heard.nothing: No passage answers question {n}"
	noFurther    bt.Reason = "story.heard.no_further: No further passage was found for question {n}"
)

// EventType implements bt.Typed.
func (AnswerHeard) EventType() string { return "answer.heard" }

// Story implements bt.Narrated. What went wrong beside the answer follows it.
func (e AnswerHeard) Story() bt.Why {
	told := answerHeard.With(text.Brief(e.Text, mostQuoted))
	switch {
	case e.Further:
		told = noFurther.With(e.Number)
	case e.NotFound:
		told = nothingHeard.With(e.Number)
	}
	for _, note := range e.Notes {
		told = bt.Both(told, note)
	}
	return told
}

// AnalysisFailed says that the answer of a pair could not be analysed. The inquiry continues.
type AnalysisFailed struct {
	Number int    `json:"number"`
	Reason string `json:"reason"`
	bt.Coded
}

const analysisFailed bt.Reason = "story.failed.analysis: Answer {n} could not be judged, and the inquiry goes on: {why}"

// EventType implements bt.Typed.
func (AnalysisFailed) EventType() string { return "analysis.failed" }

// Story implements bt.Narrated.
func (e AnalysisFailed) Story() bt.Why {
	return analysisFailed.With(e.Number, bt.Why{Text: e.Reason, Coded: e.Coded})
}

// DetectiveSwitched says that a model failed, and which one is asked instead.
type DetectiveSwitched struct {
	From   string `json:"from"`
	To     string `json:"to"`
	Reason string `json:"reason"`
	bt.Coded
}

const detectiveSwitched bt.Reason = "story.failed.detective: {from} could not go on, so {to} was asked: {why}"

// EventType implements bt.Typed.
func (DetectiveSwitched) EventType() string { return "detective.switched" }

// Story implements bt.Narrated.
func (e DetectiveSwitched) Story() bt.Why {
	return detectiveSwitched.With(e.From, e.To, bt.Why{Text: e.Reason, Coded: e.Coded})
}

// LedgerKept counts what is open after a pair.
type LedgerKept struct {
	Number         int    `json:"number"`
	Limit          int    `json:"limit"`
	Completeness   *int   `json:"completeness,omitempty"` // nil: no model has judged
	High           int    `json:"high"`
	Medium         int    `json:"medium"`
	Low            int    `json:"low"`
	Contradictions int    `json:"contradictions"`
	Waiting        int    `json:"waiting"`    // contradictions that the witness was not asked about
	Unverified     int    `json:"unverified"` // reported, and not quoted letter by letter
	By             string `json:"by"`
}

const (
	judged bt.Reason = "story.checked.judged: Judged the answers after question {n} of {limit}: {complete} % complete, " +
		"open points {open}, contradictions {clashes}"
	collectedSoFar bt.Reason = "story.checked.collected: After question {n} of {limit}: open points {open}"
)

// EventType implements bt.Typed.
func (LedgerKept) EventType() string { return "ledger.kept" }

// Story implements bt.Narrated. Without a model there is no score.
func (e LedgerKept) Story() bt.Why {
	open := e.High + e.Medium + e.Low
	if e.Completeness == nil {
		return collectedSoFar.With(e.Number, e.Limit, open)
	}
	return judged.With(e.Number, e.Limit, *e.Completeness, open, e.Contradictions)
}

// Ended says why the asking ended.
type Ended struct {
	Reason string `json:"reason"`
}

const (
	askedEnough  bt.Reason = "story.answered.satisfied: Stopped asking: the answers were complete"
	askedAll     bt.Reason = "story.part.questions: Stopped asking: all the questions that were allowed were asked"
	gotNoFurther bt.Reason = "story.part.stale: Stopped asking: nothing new came"
	onlyRepeated bt.Reason = "story.part.repeated: Stopped asking: the detective only repeated its questions"
	collected    bt.Reason = "story.answered.collected: Collected what the documents say; no language model judged it"
	toldToStop   bt.Reason = "story.part.stopped: Stopped asking, because you said so"
	brokeOff     bt.Reason = "story.failed.broken: Stopped asking: an error"
	ranOutOfTime bt.Reason = "story.part.time: Stopped asking: no time was left"
)

// EventType implements bt.Typed.
func (Ended) EventType() string { return "inquiry.ended" }

// Story implements bt.Narrated.
func (e Ended) Story() bt.Why {
	told := map[record.EndReason]bt.Reason{
		record.Satisfied: askedEnough, record.Limit: askedAll, record.NoProgress: gotNoFurther,
		record.Repeated:  onlyRepeated,
		record.Collected: collected, record.Stopped: toldToStop, record.Broken: brokeOff, record.TimedOut: ranOutOfTime,
	}[record.EndReason(e.Reason)]
	return told.With()
}
