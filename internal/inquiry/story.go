package inquiry

import (
	"strings"

	"sibyl/internal/bt"
	"sibyl/internal/inquiry/record"
	"sibyl/internal/text"
)

// What a run's story tells of an inquiry.
const (
	storyWitness   bt.Reason = "story.read.witness: The witness is {name}"
	storyDocuments bt.Reason = "story.read.documents: Read the documents of {name}: {n}"
	storyUnread    bt.Reason = "story.read.unread: Read the documents of {name}: {n}; could not read {which}"
	storyQuestion  bt.Reason = "story.thought.question: Asked question {n}: “{words}”"
	storyAnswer    bt.Reason = "story.heard.answer: The answer: “{words}”"
	storyNoPassage bt.Reason = "story.heard.nothing: No passage answers question {n}"
	storyUnjudged  bt.Reason = "story.failed.analysis: Answer {n} could not be judged: {why}"
	storySwitched  bt.Reason = "story.failed.detective: {from} could not go on, so {to} was asked"
	storyJudged    bt.Reason = "story.checked.judged: Judged the answers: {complete} % complete, open points {open}, contradictions {clashes}"
	storySatisfied bt.Reason = "story.answered.satisfied: Stopped asking: the answers were complete"
	storyLimit     bt.Reason = "story.part.questions: Stopped asking: all the questions that were allowed were asked"
	storyStale     bt.Reason = "story.part.stale: Stopped asking: nothing new came"
	storyCollected bt.Reason = "story.answered.collected: Collected what the documents say; no language model judged it"
	storyStopped   bt.Reason = "story.part.stopped: Stopped asking, because you said so"
	storyBroken    bt.Reason = "story.failed.broken: Stopped asking: an error"
	storyTimedOut  bt.Reason = "story.part.time: Stopped asking: no time was left"
)

// mostQuoted is how many characters of a question or an answer a story tells.
const mostQuoted = 200

func stories() []bt.Reason {
	return []bt.Reason{storyWitness, storyDocuments, storyUnread, storyQuestion, storyAnswer, storyNoPassage, storyUnjudged, storySwitched, storyJudged,
		storySatisfied, storyLimit, storyStale, storyCollected, storyStopped, storyBroken, storyTimedOut}
}

// Story implements bt.Narrated.
func (e WitnessOpened) Story() bt.Why {
	switch {
	case e.Documents == 0:
		return storyWitness.With(e.Name)
	case len(e.Unread) > 0:
		return storyUnread.With(e.Name, e.Documents, strings.Join(e.Unread, ", "))
	}
	return storyDocuments.With(e.Name, e.Documents)
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
func (e AnalysisFailed) Story() bt.Why { return storyUnjudged.With(e.Number, e.Reason) }

// Story implements bt.Narrated.
func (e DetectiveSwitched) Story() bt.Why { return storySwitched.With(e.From, e.To) }

// Story implements bt.Narrated. Where no model judges, there is no score to tell.
func (e LedgerKept) Story() bt.Why {
	if e.Completeness == nil {
		return bt.Why{}
	}
	return storyJudged.With(*e.Completeness, e.High+e.Medium+e.Low, e.Contradictions)
}

// Story implements bt.Narrated.
func (e Ended) Story() bt.Why {
	told := map[record.EndReason]bt.Reason{
		record.Satisfied: storySatisfied, record.Limit: storyLimit, record.NoProgress: storyStale, record.Collected: storyCollected,
		record.Stopped: storyStopped, record.Broken: storyBroken, record.TimedOut: storyTimedOut,
	}[record.EndReason(e.Reason)]
	return told.With()
}
