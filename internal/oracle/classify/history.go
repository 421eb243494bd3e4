package classify

import (
	"slices"
	"strings"

	"sibyl/internal/text/search"
)

const (
	recentQuestions  = 3 // how many earlier questions make up the topic
	maxFollowUpWords = 9 // most words of a sentence that depends on the one before
)

// Closed classes of words that show a question to be a follow-up, in the five languages of the training.
const (
	leading = " and or but und oder aber e ou mas y o pero et "
	asking  = " who whom whose what which when where why how is are am was were do does did can could will would " +
		"should shall may might has have had must" +
		" wer wem wen wessen wann wo warum wieso wie welche welcher welches ist sind war waren hat haben kann wird " +
		"quem que qual quais quando onde como e sao foi" +
		" quien cual cuando donde es son fue qui quel quelle quand ou comment est "
	pronouns = " it they them es sie ihn isso isto ele ela eles elas eso esto el ella ellos ca cela " //nolint:misspell // Portuguese
	phrases  = "|what about|how about|also in|same for|only in|was ist mit|wie ist|e quanto|y que|"
)

func listHas(list, word string) bool { return strings.Contains(list, " "+word+" ") }

// Continues reports whether a question can't be understood without the one before it.
func Continues(question string) bool { return parseText(question).isFollowUp() }

// isFollowUp says whether a text depends on what came before: one of its short sentences begins as if it continued
// another and is no question itself, or asks about something by a pronoun.
func (t *parsedText) isFollowUp() bool {
	for _, in := range t.sentences {
		tokens := t.tokens[in[0]:in[1]]
		first, second, last := tokens[0].seen, "", tokens[len(tokens)-1]
		if len(tokens) > 1 {
			second = tokens[1].seen
		}
		ledIn := listHas(leading, first) && !listHas(asking, second) ||
			strings.Contains(phrases, "|"+first+" "+second+"|")
		asks := listHas(asking, first) || last.after == question
		pointed := len(tokens) > 2 && slices.ContainsFunc(tokens, func(tok token) bool {
			return listHas(pronouns, tok.seen)
		})
		if len(tokens) <= maxFollowUpWords && (ledIn || asks && pointed) {
			return true
		}
	}
	return false
}

// TopicShift reports whether a question leaves the topic of the earlier ones, oldest first, so that the context should
// be assessed anew. A follow-up, a pronoun without a subject of its own, or any word in common with the last three
// keeps the topic, and so does a question that names nothing, or is small talk. Without an earlier question there is no
// topic to leave.
func TopicShift(previous []string, question string) bool {
	return parseText(question).leavesTopic(previous) && Classify(Query{Text: question}).QueryType != Conversational
}

// leavesTopic says whether a text shares no stem with the last earlier questions.
func (t *parsedText) leavesTopic(previous []string) bool {
	mine := t.stems()
	if len(previous) == 0 || len(mine) == 0 || t.isFollowUp() {
		return false
	}
	for _, earlier := range previous[max(0, len(previous)-recentQuestions):] {
		for stem := range parseText(earlier).stems() {
			if mine[stem] {
				return false
			}
		}
	}
	return true
}

// stems are the terms in a form that inflections and spellings share; names in their parts too.
func (t *parsedText) stems() map[string]bool {
	out := map[string]bool{}
	for _, term := range t.terms() {
		for _, w := range search.Words(strings.Join(search.Parts(term), " ")) {
			if stem := search.Stem(w); len(stem) > 1 && !search.IsStop(w) {
				out[stem] = true
			}
		}
	}
	return out
}
