package council

import "sibyl/internal/bt"

// What a run's story tells of a sitting and of recordings.
const (
	storyAsked   bt.Reason = "story.thought.oracle: Asked {oracle}"
	storyHeard   bt.Reason = "story.heard: {oracle} answered"
	storySilent  bt.Reason = "story.failed.oracle: {oracle} gave no answer: {why}"
	storyKept    bt.Reason = "story.wrote.answer: Kept the answer in the session, as {file}"
	storyUnsaved bt.Reason = "story.failed.unsaved: Could not write the answer to the session’s folder: {why}"
	storyMerging bt.Reason = "story.thought.chair: Had {oracle} compare the answers"
	storyChaired bt.Reason = "story.checked.chair: {oracle} compared the answers: agreed {agree}, differing " +
		"{differ}, overlooked {overlooked}"
	storySkipped  bt.Reason = "story.part.skipped: Did not compare the answers: {why}"
	storyNamed    bt.Reason = "story.wrote.name: Called the session “{name}”"
	storyWritten  bt.Reason = "story.read.recording: Wrote down recording {n}: {words} words"
	storyUnheard  bt.Reason = "story.failed.recording: Could not write down recording {n}, which is kept: {why}"
	storyAnswered bt.Reason = "story.answered.council: The answer is there"
	storyLacks    bt.Reason = "story.part.lacks: something is missing: {why}"
)

func stories() []bt.Reason {
	return []bt.Reason{storyAsked, storyHeard, storySilent, storyKept, storyUnsaved, storyMerging, storyChaired,
		storySkipped, storyNamed, storyWritten,
		storyUnheard, storyAnswered, storyLacks}
}

// Story implements bt.Narrated.
func (e OracleAsked) Story() bt.Why { return storyAsked.With(e.Oracle) }

// InRun is the run in which the oracle answers.
func (e OracleAsked) InRun() string { return e.Run }

// Story implements bt.Narrated.
func (e OracleHeard) Story() bt.Why {
	if e.Failed != "" {
		return storySilent.With(e.Oracle, bt.Why{Text: e.Failed, Coded: e.Coded})
	}
	return storyHeard.With(e.Oracle)
}

// InRun is the run in which the oracle answered.
func (e OracleHeard) InRun() string { return e.Run }

// Story implements bt.Narrated.
func (e AnswerKept) Story() bt.Why { return storyKept.With(e.File) }

// Story implements bt.Narrated.
func (e AnswerUnsaved) Story() bt.Why { return storyUnsaved.With(e.Reason) }

// Story implements bt.Narrated.
func (e Merging) Story() bt.Why { return storyMerging.With(e.Oracle) }

// Story implements bt.Narrated.
func (e Chaired) Story() bt.Why { return storyChaired.With(e.Oracle, e.Agree, e.Differ, e.Overlooked) }

// Story implements bt.Narrated.
func (e Skipped) Story() bt.Why { return storySkipped.With(e.Why) }

// Story implements bt.Narrated.
func (e Named) Story() bt.Why { return storyNamed.With(e.Name) }

// Story implements bt.Narrated.
func (e Transcribed) Story() bt.Why { return storyWritten.With(e.Sequence, e.Words) }

// Story implements bt.Narrated.
func (e NotTranscribed) Story() bt.Why { return storyUnheard.With(e.Sequence, e.Reason) }
