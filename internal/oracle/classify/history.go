package classify

import "slices"

// recentQuestions is how many earlier questions make up the topic.
const recentQuestions = 3

const followUpName = "follow-up"

// findFollowUp gives a follow-up the type of the question it continues. "and in the server?" names no subject of its own; "who wrote it?"
// names one by a pronoun.
func findFollowUp(t *text, q Query) []hit {
	column := slices.Index(types[:], q.PreviousType)
	if len(q.Previous) == 0 || column < 0 || q.PreviousType == Conversational {
		return nil
	}
	words, weight := followUp(t)
	if weight == 0 {
		return nil
	}
	if q.PreviousType == Action { // a change is never inherited: it must be asked for
		column = docs
	}
	h := hit{name: followUpName, words: words}
	h.weight[column] = weight
	return []hit{h}
}

// Continues reports whether a question can't be understood without the one before it.
func Continues(question string) bool {
	_, weight := followUp(newText(question))
	return weight > 0
}

// followUp returns the words that show a question not to stand by itself, and how much they say: most if it has no verb of its own, least if it
// is a whole question that begins with "and".
func followUp(t *text) ([]string, float64) {
	for _, c := range t.clauses {
		if len(c.words) == 0 || len(c.words) > 8 || c.act == writing {
			continue
		}
		for _, lead := range lex().FollowLeads {
			if !hasPrefix(c.all, lead) {
				continue
			}
			rest := c.all[len(lead):]
			switch {
			case len(rest) == 0 || !lex().WhWords[rest[0].norm] && !lex().Auxiliaries[rest[0].norm]:
				return lead, 4
			case !containsAny(rest[1:], lex().BackReferences) && !asksFact(rest):
				return lead, 1
			}
		}
		if asksFact(c.words) {
			return []string{c.head, "that"}, 5
		}
		if c.act == asking && len(c.words) > 2 && containsAny(c.words, lex().BackReferences) {
			return []string{c.head, "it"}, 3
		}
	}
	return nil, 0
}

// asksFact recognises a further fact about what was said last: "and when was that?", "who said so?" is none.
func asksFact(ts []token) bool {
	return len(ts) == 3 && lex().FactWords[ts[0].norm] && lex().Copulas[ts[1].norm] && lex().Pointed[ts[2].norm]
}

// TopicShift reports whether a question leaves the topic of the earlier ones, oldest first, so that the context should be assessed anew. A
// follow-up, a pronoun without a subject of its own, or any word in common with the last three keeps the topic, and so does a
// question that names nothing. With no earlier question there is no topic to leave.
func TopicShift(previous []string, question string) bool {
	t := newText(question)
	_, weight := followUp(t)
	if len(previous) == 0 || subjects(t.tokens) == 0 || weight > 0 {
		return false
	}
	mine := stems(t)
	if len(mine) == 0 || len(mine) == 1 && containsAny(t.tokens, lex().ObjectPronouns) {
		return false
	}
	for _, earlier := range previous[max(0, len(previous)-recentQuestions):] {
		for stem := range stems(newText(earlier)) {
			if mine[stem] {
				return false
			}
		}
	}
	return true
}
