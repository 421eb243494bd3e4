package classify

import (
	"slices"
	"strings"

	"sibyl/internal/text/search"
)

const (
	recentQuestions = 3 // how many earlier questions make up the topic
	mostOfFollowUp  = 9 // words of a sentence that can't be understood by itself
)

// Closed classes of words by which a question is seen to go on with the one before it, in the five languages that are
// trained.
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

func isOf(list, word string) bool { return strings.Contains(list, " "+word+" ") }

// Continues reports whether a question can't be understood without the one before it.
func Continues(question string) bool { return newText(question).goesOn() }

// goesOn says whether a text is seen not to stand by itself: a short sentence of it begins as if others had come before
// it, without a question of its own, or asks about something by a pronoun.
func (t *said) goesOn() bool {
	for _, in := range t.sentences {
		tokens := t.tokens[in[0]:in[1]]
		first, second, last := tokens[0].seen, "", tokens[len(tokens)-1]
		if len(tokens) > 1 {
			second = tokens[1].seen
		}
		led := isOf(leading, first) && !isOf(asking, second) || strings.Contains(phrases, "|"+first+" "+second+"|")
		asks := isOf(asking, first) || last.after == question
		pointed := len(tokens) > 2 && slices.ContainsFunc(tokens, func(tok token) bool {
			return isOf(pronouns, tok.seen)
		})
		if len(tokens) <= mostOfFollowUp && (led || asks && pointed) {
			return true
		}
	}
	return false
}

// TopicShift reports whether a question leaves the topic of the earlier ones, oldest first, so that the context should
// be assessed anew. A follow-up, a pronoun without a subject of its own, or any word in common with the last three
// keeps the topic, and so does a question that names nothing, or is only said to whoever answers. With no earlier
// question there is no topic to leave.
func TopicShift(previous []string, question string) bool {
	return newText(question).leaves(previous) && Classify(Query{Text: question}).QueryType != Conversational
}

// leaves says whether the words of a text have nothing to do with those of the earlier questions.
func (t *said) leaves(previous []string) bool {
	mine := t.stems()
	if len(previous) == 0 || len(mine) == 0 || t.goesOn() {
		return false
	}
	for _, earlier := range previous[max(0, len(previous)-recentQuestions):] {
		for stem := range newText(earlier).stems() {
			if mine[stem] {
				return false
			}
		}
	}
	return true
}

// stems are the terms in a form that inflections and spellings share; names in their parts too.
func (t *said) stems() map[string]bool {
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
