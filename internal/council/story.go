package council

import "sibyl/internal/bt"

// Texts of a run's story about sittings and recordings.
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

// What is wrong with a request.
const (
	noOracle         bt.Reason = "request.oracles.none: no oracle is given"
	manyOracles      bt.Reason = "request.oracles.many: at most {most} oracles can be asked at once"
	loneChair        bt.Reason = "request.chair: a chair needs several oracles"
	unknownOracle    bt.Reason = "request.oracle: no oracle or several oracles match this name"
	sameNames        bt.Reason = "request.oracles.same: two of the oracles have the same name"
	needModel        bt.Reason = "request.oracles.model: oracles need a language model, and none is available"
	notWrittenDown   bt.Reason = "request.session.waits: nothing in this session is transcribed yet"
	noneWrittenDown  bt.Reason = "request.session.failed: nothing in this session could be transcribed"
	noneReadable     bt.Reason = "request.session.damaged: nothing in this session can be read"
	nothingToAsk     bt.Reason = "request.session.empty: nothing was said in this session yet"
	noTranscription  bt.Reason = "request.transcription: transcription is not set up"
	namedByHand      bt.Reason = "request.name: the session already has a name given by hand"
	namingNeedsModel bt.Reason = "request.name.model: suggesting a name needs a language model"
)

// Problems in a session that were repaired, or could not be.
const (
	wasInterrupted bt.Reason = "mended.interrupted: its transcription was interrupted"
	stillUnsaved   bt.Reason = "mended.unsaved: an answer is waiting in the journal (run {run}) because it can't be " +
		"written to the session's folder: {why}"
	unwrittenDown bt.Reason = "recording.unwritten: its transcript could not be written into the session's folder"
	nowSaved      bt.Reason = "mended.saved: an answer that could not be written before is now in the session's " +
		"folder: {file}"
)

func stories() []bt.Reason {
	return []bt.Reason{storyAsked, storyHeard, storySilent, storyKept, storyUnsaved, storyMerging, storyChaired,
		storySkipped, storyNamed, storyWritten,
		storyUnheard, storyAnswered, storyLacks, noOracle, manyOracles, loneChair, unknownOracle, sameNames, needModel,
		notWrittenDown, noneWrittenDown, noneReadable, nothingToAsk, noTranscription, namedByHand, namingNeedsModel,
		wasInterrupted, stillUnsaved, unwrittenDown, nowSaved}
}

// Story implements bt.Narrated.
func (e OracleAsked) Story() bt.Why { return storyAsked.With(e.Oracle) }

func (e OracleAsked) InRun() string { return e.Run }

// Story implements bt.Narrated.
func (e OracleHeard) Story() bt.Why {
	if e.Failed != "" {
		return storySilent.With(e.Oracle, bt.Why{Text: e.Failed, Coded: e.Coded})
	}
	return storyHeard.With(e.Oracle)
}

func (e OracleHeard) InRun() string { return e.Run }

// Story implements bt.Narrated.
func (e AnswerKept) Story() bt.Why { return storyKept.With(e.File) }

// Story implements bt.Narrated.
func (e AnswerUnsaved) Story() bt.Why {
	return storyUnsaved.With(bt.Why{Text: e.Reason, Coded: e.Coded})
}

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
func (e NotTranscribed) Story() bt.Why {
	return storyUnheard.With(e.Sequence, bt.Why{Text: e.Reason, Coded: e.Coded})
}
