package council

import "sibyl/internal/bt"

// How the story of a run ends; its events tell what comes before.
const (
	storyAnswered bt.Reason = "story.answered.council: The answer is there"
	storyLacks    bt.Reason = "story.part.lacks: something is missing: {why}"
)

// What is to be known of answers.
const (
	someCut   bt.Reason = "notice.cut: not everything fits in the model's context window: {what}"
	answerCut bt.Reason = "notice.answer.cut: the model's context window had no room for everything: the answer of " +
		"{oracle} is given on {what}"
	answerNotKept bt.Reason = "notice.answer.unsaved: the answer of {oracle} is not in the session's folder ({why}): " +
		"the journal keeps it, and ‘sibyl council show {session}’ saves it once the folder takes it"
	answerEnds    bt.Reason = "notice.answer.ends: the answer of {oracle} is cut off"
	answerRepeats bt.Reason = "notice.answer.repeats: the model repeated itself and was stopped: the answer of {oracle} " +
		"is what came before"
	answersKept bt.Reason = "notice.answers_kept: answers so far are kept; ‘sibyl council ask {oracles} --session " +
		"{session}’ asks again"
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
	nowRestored bt.Reason = "mended.restored: the file of an answer was missing, and is written anew from " +
		"the journal: {file}"
)

func allReasons() []bt.Reason {
	return append(eventReasons(), storyAnswered, storyLacks, someCut, answerCut, answerNotKept, answerEnds, answerRepeats,
		answersKept, noOracle, manyOracles, loneChair, unknownOracle, sameNames,
		needModel, notWrittenDown, noneWrittenDown, noneReadable, nothingToAsk, noTranscription, namedByHand,
		namingNeedsModel, wasInterrupted, stillUnsaved, unwrittenDown, nowSaved,
		nowRestored)
}
