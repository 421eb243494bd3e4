package classify

import "slices"

// talkFrames find words that are about the talk itself, and place what no other feature knows.
var talkFrames = []frame{
	{"nothing-asked", weights{chat: 4.5}, nothingAsked},
	{"asked-of-reply", weights{chat: 4.5}, askedOfReply},
	{"remark", weights{chat: 1.6}, remark},
	{"said-to-you", weights{chat: 1}, saidToYou},
	{"greeting", weights{chat: 0.8}, greeting},

	// What nothing is known about belongs to the world outside: it is larger than any project.
	{"unplaced-question", weights{web: 0.3}, func(t *text) []string { return firstWord(t, true) }},
	{"unplaced-words", weights{web: 0.2, chat: 0.1}, func(t *text) []string { return firstWord(t, false) }},
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
		empty := stopWords[t.norm] || answerForms[t.norm] || courtesyWords[t.norm] || retellVerbs[t.norm]
		if t.kind != symbol && (t.kind != word || t.quoted || !empty) {
			n++
		}
	}
	return n
}

// askedOfReply finds wishes for another form of the reply: "say that in plain English".
func askedOfReply(t *text) []string {
	for _, c := range t.clauses {
		if !whWords[c.head] && isAboutReply(c.words) && subjects(c.words[1:]) < 2 {
			return []string{c.words[0].norm + " " + c.words[1].norm}
		}
	}
	return nil
}

// isAboutReply recognises a verb whose object is the reply and a form to give it: "make it shorter", "put that in a table".
func isAboutReply(ts []token) bool {
	if len(ts) == 2 && objectPronouns[ts[1].norm] && retellVerbs[ts[0].norm] {
		return true
	}
	if len(ts) < 3 || !objectPronouns[ts[1].norm] || ts[2].norm == "one" || slices.ContainsFunc(ts[1:], isNoteTarget) {
		return false
	}
	if writesDown[ts[0].norm] && containsAny(ts[:min(4, len(ts))], down) {
		return false
	}
	return containsAny(ts[2:], answerForms)
}

// isNoteTarget says whether a token names a place that outlasts the talk.
func isNoteTarget(t token) bool {
	return t.kind == path || noteNouns[t.norm] && !answerForms[t.norm]
}

// remark matches short statements about the talk: "that's not it", "I'll try that", "you saved me hours".
func remark(t *text) []string {
	if t.asks || len(t.tokens) > 16 {
		return nil
	}
	for _, c := range t.clauses {
		if remarkHeads[c.head] {
			return []string{c.head}
		}
	}
	return nil
}

var remarkHeads = set("i you that this it what not")

// saidToYou finds words addressed to the assistant as somebody: "what do you think". "how would you" asks for a way that anybody may go.
func saidToYou(t *text) []string {
	for _, c := range t.clauses {
		if c.head != "how" && containsAny(c.words[:min(4, len(c.words))], you) {
			return []string{"you"}
		}
	}
	return nil
}

var down, you = set("down"), set("you")

func greeting(t *text) (found []string) {
	for _, c := range t.clauses {
		if greetings[c.all[0].norm] {
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
