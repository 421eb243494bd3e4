package classify

import "slices"

// unplaced begins the names of features that say of a text only that it is one.
const unplaced = "unplaced-"

// talkFrames find words that are about the talk itself, and place what no other feature knows.
var talkFrames = []frame{
	{name: "nothing-asked", weight: balance{chat: 4.5}, match: nothingAsked},
	{name: "asked-of-reply", weight: balance{chat: 4.5}, clause: askedOfReply},
	{name: "remark", weight: balance{chat: 1.6}, clause: remark},
	{name: "said-to-you", weight: balance{chat: 1}, clause: saidToYou},
	{name: "greeting", weight: balance{chat: 0.8}, match: greeting},

	// What nothing is known about belongs to the world outside: it is larger than any project.
	{name: unplaced + "question", weight: balance{web: 0.3}, match: func(t *text) []string { return firstWord(t, true) }},
	{name: unplaced + "words", weight: balance{web: 0.2, chat: 0.1}, match: func(t *text) []string { return firstWord(t, false) }},
}

// nothingAsked matches texts made of courtesies, pronouns and grammar alone.
func nothingAsked(t *text) []string {
	if len(t.tokens) == 0 || subjects(t.tokens) > 0 {
		return nil
	}
	return []string{t.span(0, min(3, len(t.words)))}
}

// subjects counts the tokens that carry a subject matter.
func subjects(ts []token) (n int) {
	for _, t := range ts {
		empty := lex().StopWords[t.norm] || lex().AnswerForms[t.norm] || lex().CourtesyWords[t.norm] || lex().RetellVerbs[t.norm]
		if t.kind != symbol && (t.kind != word || t.quoted || !empty) {
			n++
		}
	}
	return n
}

// askedOfReply finds wishes for another form of the reply: "say that in plain English".
func askedOfReply(_ *text, c clause) string {
	return when(!lex().WhWords[c.head] && isAboutReply(c.words) && subjects(c.words[1:]) < 2, c.begin(2))
}

// isAboutReply recognises a verb whose object is the reply and a form to give it: "make it shorter", "put that in a table".
func isAboutReply(ts []token) bool {
	if len(ts) == 2 && lex().ObjectPronouns[ts[1].norm] && lex().RetellVerbs[ts[0].norm] {
		return true
	}
	if len(ts) < 3 || !lex().ObjectPronouns[ts[1].norm] || ts[2].norm == "one" || slices.ContainsFunc(ts[1:], isNoteTarget) {
		return false
	}
	if lex().WritesDown[ts[0].norm] && containsAny(ts[:min(4, len(ts))], lex().Down) {
		return false
	}
	return containsAny(ts[2:], lex().AnswerForms)
}

// isNoteTarget says whether a token names a place that outlasts the talk.
func isNoteTarget(t token) bool {
	return t.kind == path || lex().NoteNouns[t.norm] && !lex().AnswerForms[t.norm]
}

// remark matches short statements about the talk: "that's not it", "I'll try that", "you saved me hours".
func remark(t *text, c clause) string {
	return when(!t.asks && len(t.tokens) <= 16 && lex().RemarkHeads[c.head], c.head)
}

// saidToYou finds words addressed to the assistant as somebody: "what do you think". "how would you" asks for a way that anybody may go.
func saidToYou(_ *text, c clause) string {
	return when(c.head != "how" && containsAny(c.words[:min(4, len(c.words))], lex().You), "you")
}

func greeting(t *text) (found []string) {
	for _, c := range t.clauses {
		if lex().Greetings[c.all[0].norm] {
			found = append(found, c.all[0].norm)
		}
	}
	return found
}

func firstWord(t *text, asks bool) []string {
	if t.asks != asks || len(t.words) == 0 {
		return nil
	}
	return t.words[:1]
}
