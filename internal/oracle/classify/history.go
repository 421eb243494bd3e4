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
func Continues(question string) bool { return newText(question).followsBy() != "" }

// followsBy says by what a question is seen not to stand by itself: it begins as if others had come before it, alone or as a question of its own, or it
// asks about something by a pronoun. "" if it stands by itself.
func (t *text) followsBy() string {
	class := grammar()
	for _, s := range t.sentences {
		words := t.norms[s.start:s.end]
		if len(words) > mostOfFollowUp {
			continue
		}
		asks := class[asking][words[0]] || t.tokens[s.end-1].after == question
		refers := slices.ContainsFunc(words, func(w string) bool { return class[back][w] }) || len(words) < 5 && class[this][words[len(words)-1]]
		line := strings.Join(words, " ") + " "
		switch {
		case class[leads][words[0]] && len(words) > 1 && class[asking][words[1]]:
			return "and asks"
		case class[leads][words[0]], slices.ContainsFunc(phrasesThatLead[:], func(p string) bool { return strings.HasPrefix(line, fold(p)) }):
			return "and"
		case asks && len(words) > 2 && refers:
			return "it"
		}
	}
	return ""
}

// TopicShift reports whether a question leaves the topic of the earlier ones, oldest first, so that the context should be assessed anew. A
// follow-up, a pronoun without a subject of its own, or any word in common with the last three keeps the topic, and so does a
// question that names nothing, or is only said to whoever answers. With no earlier question there is no topic to leave.
func TopicShift(previous []string, question string) bool {
	return newText(question).leaves(previous) && Classify(Query{Text: question}).QueryType != Conversational
}

// leaves says whether the words of a text have nothing to do with those of the earlier questions.
func (t *text) leaves(previous []string) bool {
	if len(previous) == 0 || t.followsBy() != "" {
		return false
	}
	mine := t.stems()
	if len(mine) == 0 || len(mine) == 1 && slices.ContainsFunc(t.norms, func(w string) bool { return grammar()[this][w] }) {
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
