package inquiry

import (
	"sibyl/internal/bt"
	"sibyl/internal/inquiry/witness"
)

// What goes wrong besides the questions and answers, and why something is not judged.
const (
	answersAgain bt.Reason = "trail.again: {model} answers again"
	askedAgain   bt.Reason = "trail.asked_again: {why}; it was asked again"
	gaveWay      bt.Reason = "trail.gave_way: It was ended, so that it can't go on: {why}"
	tookBack     bt.Reason = "trail.taken_back: the witness took back a contradiction: {what}"
	unverifiable bt.Reason = "trail.unverifiable: a contradiction is not verifiable ({what}): {why}"
	unwritten    bt.Reason = "trail.unwritten: the session file could not be written; it is written the next time " +
		"the session is opened: {why}"
	standsNowhere bt.Reason = "finding.nowhere: {words} is in no answer and no passage, word for word"
	sameWords     bt.Reason = "finding.same: both quotations are the same words"
	endedBefore   bt.Reason = "unjudged.ended: the inquiry ended before"
	saidNothing   bt.Reason = "unjudged.silent: no answer said anything, so nothing was compared"
	nothingBears  bt.Reason = "unjudged.open: no answer bears on the hypothesis"
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

func reasons() []bt.Reason {
	return append(append(witness.Reasons(), eventReasons()...), answersAgain,
		askedAgain, gaveWay, saidNothing, nothingBears, tookBack, unverifiable, unwritten,
		standsNowhere, sameWords, endedBefore, notToEnd, wrongHypothesis, largeDocuments, noWitness, deafWitness,
		noDetective)
}
