package classify

import (
	"slices"
	"strings"
)

// recentQuestions is how many earlier questions make up the topic.
const recentQuestions = 3

// mostOfFollowUp is how many words a sentence has at most that can't be understood by itself.
const mostOfFollowUp = 9

// Continues reports whether a question can't be understood without the one before it.
func Continues(question string) bool { return newText(question).followsBy() != standsAlone }

// Ways in which a text is seen not to stand by itself.
const (
	leads       = "and"      // it begins as if others had come before it
	leadsOwn    = "and asks" // so it does, with a question of its own
	refers      = "it"       // it asks about something by a pronoun
	standsAlone = ""         // it stands by itself
)

// followsBy says by what a text is seen not to stand by itself.
func (t *text) followsBy() string {
	is := grammar()
	for _, s := range t.sentences {
		words := t.norms[s.start:s.end]
		if len(words) > mostOfFollowUp {
			continue
		}
		line := strings.Join(words, " ") + " "
		led := is[leading][words[0]] || slices.ContainsFunc(leadingPhrases[:], func(p string) bool { return strings.HasPrefix(line, fold(p)) })
		own := is[leading][words[0]] && len(words) > 1 && is[asking][words[1]]
		asks := own || is[asking][words[0]] || t.tokens[s.end-1].after == question
		pointed := slices.ContainsFunc(words, func(w string) bool { return is[pronouns][w] }) || len(words) < 5 && is[pointing][words[len(words)-1]]
		switch {
		case asks && pointed && len(words) > 2:
			return refers
		case own:
			return leadsOwn
		case led:
			return leads
		}
	}
	return standsAlone
}

// TopicShift reports whether a question leaves the topic of the earlier ones, oldest first, so that the context should be assessed anew. A
// follow-up, a pronoun without a subject of its own, or any word in common with the last three keeps the topic, and so does a
// question that names nothing, or is only said to whoever answers. With no earlier question there is no topic to leave.
func TopicShift(previous []string, question string) bool {
	return newText(question).leaves(previous) && Classify(Query{Text: question}).QueryType != Conversational
}

// leaves says whether the words of a text have nothing to do with those of the earlier questions.
func (t *text) leaves(previous []string) bool {
	by := t.followsBy()
	if len(previous) == 0 || by == leads || by == refers {
		return false
	}
	mine := t.stems()
	if len(mine) == 0 || len(mine) == 1 && slices.ContainsFunc(t.norms, func(w string) bool { return grammar()[pointing][w] }) {
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
