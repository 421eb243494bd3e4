package classify

import "strings"

// orderFrames find requests for a change.
var orderFrames = []frame{
	{name: "write-request", weight: balance{write: 10}, match: writeRequest},
	{name: "wanted-done", weight: balance{write: 10}, clause: wantedDone},
	{name: "unknown-order", weight: balance{write: 4.5}, match: unknownOrder},
}

func writeRequest(t *text) (found []string) {
	for _, c := range t.clauses {
		for _, v := range c.verbs {
			found = append(found, v.norm)
		}
	}
	return found
}

// wantedDone finds "I want the questions moved to a note": the wish for a change in the passive.
func wantedDone(_ *text, c clause) string {
	if len(c.all) < 5 || c.all[0].norm != "i" || c.all[2].norm == "to" || c.all[1].norm != "want" && c.all[1].norm != "need" {
		return ""
	}
	for _, w := range c.all[3:] {
		stem := strings.TrimSuffix(w.norm, "d")
		if base := strings.TrimSuffix(stem, "e"); stem != w.norm && (lex().WriteVerbs[stem] || lex().WriteVerbs[base] || lex().NounVerbs[stem] || lex().NounVerbs[base]) {
			return c.all[1].norm + " " + w.norm
		}
	}
	return ""
}

// unknownOrder finds an imperative by its build alone: a word nobody knows, then an article and something, and no question.
func unknownOrder(t *text) (found []string) {
	for _, c := range t.clauses {
		w := c.words
		if c.act == telling && len(w) > 2 && w[0].kind == word && !w[0].quoted && w[0].after == within && (lex().Determiners[w[1].norm] || len(w) > 3 && lex().Particles[w[1].norm] && lex().Determiners[w[2].norm]) &&
			!isAboutReply(w) && mayBeVerb(w[0].norm) {
			found = append(found, w[0].norm)
		}
	}
	return found
}

func mayBeVerb(w string) bool {
	for _, ending := range []string{"ing", "ly", "ed"} {
		if strings.HasSuffix(w, ending) {
			return false
		}
	}
	return !lex().StopWords[w] && !lex().SoftwareNouns[w] && !lex().CourtesyWords[w] && !lex().Products[w] && !lex().Prepositions[w] && !lex().Conjunctions[w]
}

// isOrder decides whether the words begin with a verb that asks for a change.
func isOrder(ts []token, requested bool) bool {
	if len(ts) == 1 {
		return lex().WriteVerbs[ts[0].norm] && !lex().CourtesyWords[ts[0].norm] || ts[0].norm == "save"
	}
	if isAboutReply(ts) || lex().ReadingIdioms.at(ts) != nil || opensToRead(ts) {
		return false
	}
	verb, next := gerundless(ts[0].norm), ts[1]
	switch {
	case lex().OrderIdioms.at(ts) != nil:
		return len(ts) > 3
	case lex().WriteVerbs[verb]:
		return requested || !isCompound(ts)
	case lex().NounVerbs[verb]:
		return isPhrasal(ts) || lex().Inchoatives[verb] && strings.HasSuffix(next.norm, "ing") || isObject(ts, requested) && (!lex().WeakNounVerbs[verb] || strongObject(ts[1:]))
	case verb == "use":
		return len(ts) > 2 && next.norm != "of" && next.norm != "case" && next.norm != "cases"
	}
	return requested && verbFinal(ts)
}

// opensToRead recognises "open the page", "open my note on caching": what is named as known is there, and is opened to be read; a new one is
// "open an issue".
func opensToRead(ts []token) bool {
	return len(ts) > 1 && ts[0].norm == "open" && definiteWord(ts[1])
}

// gerundless undoes "would you mind adding".
func gerundless(verb string) string {
	stem, ok := strings.CutSuffix(verb, "ing")
	switch {
	case ok && lex().WriteVerbs[stem]:
		return stem
	case ok && lex().WriteVerbs[stem+"e"]:
		return stem + "e"
	}
	return verb
}

// isCompound recognises names that begin with the form of a verb: "update command", "write path of the store", "fix for the leak",
// "record locking in SQLite", "write-ahead log".
func isCompound(ts []token) bool {
	verb, next := ts[0], ts[1]
	switch {
	case verb.glued:
		return true
	case lex().NeverNouns[verb.norm], lex().Determiners[next.norm], next.kind != word, next.quoted, lex().NoteNouns[next.norm]:
		return false
	case lex().NounTails[next.norm]:
		return true
	}
	if len(ts) > 2 && verb.after == within && next.after == within {
		named := ts[2].norm == "of" && !lex().Attributes[next.norm]
		activity := strings.HasSuffix(next.norm, "ing") && !strings.HasSuffix(next.norm, "thing") && lex().Prepositions[ts[2].norm]
		if named || activity {
			return true
		}
	}
	last := ts[len(ts)-1]
	return len(ts) < 4 && last.kind == word && !lex().NoteNouns[last.norm] && (lex().SoftwareNouns[last.norm] || lex().CompoundTails[last.norm]) &&
		(len(ts) < 3 || !lex().Determiners[ts[1].norm])
}

// isObject says whether what follows a noun-like verb is its object, so that it is a verb.
func isObject(ts []token, requested bool) bool {
	verb, next := ts[0], ts[1]
	switch {
	case verb.after >= colon: // "note: …"
		return true
	case verb.after == comma, next.kind == number:
		return false
	case next.kind != word || next.quoted, lex().Determiners[next.norm], lex().ObjectPronouns[next.norm], lex().WhWords[next.norm]:
		return true
	case next.norm == "in" || next.norm == "into", next.norm == "down", next.norm == "up", next.norm == "everything", next.norm == "to" && verb.norm != "link":
		return true
	case verb.norm == "new":
		return lex().NoteNouns[next.norm]
	}
	return requested && !lex().StopWords[next.norm] || lex().NoteNouns[next.norm] && (len(ts) < 6 || lex().WeakNounVerbs[verb.norm])
}

// strongObject says whether an object is definite enough to make an order even with a verb as vague as "make" or "take".
func strongObject(ts []token) bool {
	if ts[0].kind != word || lex().Determiners[ts[0].norm] && !lex().ObjectPronouns[ts[0].norm] {
		return true
	}
	for _, t := range ts {
		if lex().NoteNouns[t.norm] || t.kind == path && lex().DocFiles[fileExt(t.norm)] {
			return true
		}
	}
	return false
}

// isPhrasal recognises a verb with its particle and an object: "set up a project", "comment out the test".
func isPhrasal(ts []token) bool {
	return len(ts) > 2 && lex().Particles[ts[1].norm] && (lex().Determiners[ts[2].norm] || ts[2].kind != word || lex().OnlyPhrasal[ts[0].norm])
}

// verbFinal recognises the German request: "kannst du das als Notiz speichern".
func verbFinal(ts []token) bool {
	last := ts[len(ts)-1]
	return last.gloss && strings.HasSuffix(fold(last.raw), "n") && (lex().WriteVerbs[last.norm] || lex().NounVerbs[last.norm])
}
