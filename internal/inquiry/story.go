package inquiry

import (
	"strings"

	"sibyl/internal/bt"
	"sibyl/internal/inquiry/record"
	"sibyl/internal/inquiry/witness"
	"sibyl/internal/text"
)

// The sentences of a run's story.
const (
	storyWitness     bt.Reason = "story.read.witness: The witness is {name}"
	storyDocuments   bt.Reason = "story.read.documents: Read the documents of {name}: {n}"
	storyUnread      bt.Reason = "story.read.unread: Read the documents of {name}: {n}; could not read {which}"
	severalDocuments bt.Reason = "witness.several: {name} and {n} more documents"
	storyQuestion    bt.Reason = "story.thought.question: Asked question {n}: “{words}”"
	storyAnswer      bt.Reason = "story.heard.answer: The answer: “{words}”"
	storyNoPassage   bt.Reason = "story.heard.nothing: No passage answers question {n}"
	storyUnjudged    bt.Reason = "story.failed.analysis: Answer {n} could not be judged: {why}"
	storySwitched    bt.Reason = "story.failed.detective: {from} could not go on, so {to} was asked"
	storyJudged      bt.Reason = "story.checked.judged: Judged the answers: {complete} % complete, open points " +
		"{open}, contradictions {clashes}"
	storySatisfied bt.Reason = "story.answered.satisfied: Stopped asking: the answers were complete"
	storyLimit     bt.Reason = "story.part.questions: Stopped asking: all the questions that were allowed were asked"
	storyStale     bt.Reason = "story.part.stale: Stopped asking: nothing new came"
	storyCollected bt.Reason = "story.answered.collected: Collected what " +
		"the documents say; no language model judged it"
	storyStopped  bt.Reason = "story.part.stopped: Stopped asking, because you said so"
	storyBroken   bt.Reason = "story.failed.broken: Stopped asking: an error"
	storyTimedOut bt.Reason = "story.part.time: Stopped asking: no time was left"
)

// What goes wrong besides the questions and answers, and why something is not judged.
const (
	answersAgain bt.Reason = "trail.again: {model} answers again"
	tookBack     bt.Reason = "trail.taken_back: the witness took back a contradiction: {what}"
	unverifiable bt.Reason = "trail.unverifiable: a contradiction is not verifiable ({what}): {why}"
	unwritten    bt.Reason = "trail.unwritten: the session file could not be written; it is written the next time " +
		"the session is opened: {why}"
	standsNowhere bt.Reason = "finding.nowhere: {words} stands in no answer and in no passage, letter by letter"
	sameWords     bt.Reason = "finding.same: both quotations are the same words"
	endedBefore   bt.Reason = "unjudged.ended: the inquiry ended before"
	notToEnd      bt.Reason = "unjudged.end: no model has judged the inquiry to its end"
)

// What is wrong with a request.
const (
	wrongHypothesis bt.Reason = "request.hypothesis: the Inquiry can't take this hypothesis: it needs some words, " +
		"at most {most} characters"
	largeDocuments bt.Reason = "request.documents: the documents hold more than {most} KB of text"
	noWitness      bt.Reason = "request.witness.none: no witness is given, and none is configured"
	deafWitness    bt.Reason = "request.witness: the witness can't be used"
	noDetective    bt.Reason = "request.detective: the detective can't be used"
)

// mostQuoted bounds the characters of a question or an answer in a story.
const mostQuoted = 200

func reasons() []bt.Reason {
	return append(witness.Reasons(),
		storyWitness, storyDocuments, storyUnread, severalDocuments, storyQuestion, storyAnswer, storyNoPassage,
		storyUnjudged, storySwitched, storyJudged, storySatisfied, storyLimit, storyStale, storyCollected,
		storyStopped, storyBroken, storyTimedOut, answersAgain, tookBack, unverifiable, unwritten, standsNowhere,
		sameWords, endedBefore, notToEnd, wrongHypothesis, largeDocuments, noWitness, deafWitness, noDetective)
}

// Story implements bt.Narrated.
func (e WitnessOpened) Story() bt.Why {
	name := bt.Why{Text: e.Name, Coded: e.Coded}
	switch {
	case e.Documents == 0:
		return storyWitness.With(name)
	case len(e.Unread) > 0:
		return storyUnread.With(name, e.Documents, strings.Join(e.Unread, ", "))
	}
	return storyDocuments.With(name, e.Documents)
}

// Story implements bt.Narrated.
func (e QuestionPut) Story() bt.Why {
	return storyQuestion.With(e.Number, text.Brief(e.Text, mostQuoted))
}

// Story implements bt.Narrated.
func (e AnswerHeard) Story() bt.Why {
	if e.NotFound {
		return storyNoPassage.With(e.Number)
	}
	return storyAnswer.With(text.Brief(e.Text, mostQuoted))
}

// Story implements bt.Narrated.
func (e AnalysisFailed) Story() bt.Why {
	return storyUnjudged.With(e.Number, bt.Why{Text: e.Reason, Coded: e.Coded})
}

// Story implements bt.Narrated.
func (e DetectiveSwitched) Story() bt.Why { return storySwitched.With(e.From, e.To) }

// Story implements bt.Narrated. Without a model there is no score.
func (e LedgerKept) Story() bt.Why {
	if e.Completeness == nil {
		return bt.Why{}
	}
	return storyJudged.With(*e.Completeness, e.High+e.Medium+e.Low, e.Contradictions)
}

// Story implements bt.Narrated.
func (e Ended) Story() bt.Why {
	told := map[record.EndReason]bt.Reason{
		record.Satisfied: storySatisfied, record.Limit: storyLimit, record.NoProgress: storyStale,
		record.Collected: storyCollected,
		record.Stopped:   storyStopped, record.Broken: storyBroken, record.TimedOut: storyTimedOut,
	}[record.EndReason(e.Reason)]
	return told.With()
}
