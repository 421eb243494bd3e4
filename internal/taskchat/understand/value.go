package understand

// valueGiven reads an answer to the question for a title or value: any words that are no clear command.
func (r *reader) valueGiven(s span) []Result {
	if r.waiting() == Update {
		if to := r.whenBehind(s); !to.empty() {
			return one(Value, clear, Entities{Title: r.raw(to)}, "a day or time for what is to be moved")
		}
	}
	guessed := r.guessed
	out := r.body(s)
	was := r.guessed
	r.guessed = guessed
	first := out[0]
	ref := first.Entities.Reference
	named := ref != nil && (ref.Title == "" || r.explicitTitle(s)) && first.Confidence >= asked
	switch {
	case was, r.at(r.skip(s.lo, s.hi, fFiller), s.hi, tLeads) > 1:
	case r.possessed(r.front(s).span, tTitle) > 0:
	case first.Intent == Undo, first.Intent == Help, first.Intent == Decline && r.has(s, rIt, tBack) >= 0:
		return out
	case r.trim(s, fHedge, yMaybe, fSubject, fTalk, fFiller).empty():
		return one(Chat, weak, Entities{}, "no value")
	case first.Intent == Chat && (r.sign(s.hi-1, "?") || r.has(s, fGreet, fThanks) == s.lo):
		return out
	case first.Intent == List && first.Confidence >= likely && first.Reasoning != "a verb alone":
		return out
	case first.Intent == Create && first.Entities.Title != "" && r.saysCreate(s):
		return out
	case (first.Intent == Delete || first.Intent == Complete || first.Intent == Update) && named:
		return out
	}
	if said := r.shouldBe(r.front(s).span); said != nil && said[0].Entities.Title != "" {
		return one(Value, clear, Entities{Title: said[0].Entities.Title}, "an answer to the question for a value")
	}
	words := r.trimStart(span{r.skip(s.lo, s.hi, fFiller), s.hi}, tLeads)
	if n := r.at(words.lo, words.hi, tInto); n > 0 && r.waiting() == Update && words.lo+n < words.hi { // "to X", "in X"
		words.lo += n
	}
	if f := r.front(words); f.wished && r.waiting() == Create {
		words = f.span
	}
	value := r.titleSpan(words)
	if value.empty() {
		return out
	}
	return one(Value, clear, Entities{Title: r.raw(value)}, "an answer to the question for a value")
}

// explicitTitle says that a task is called a task in a part.
func (r *reader) explicitTitle(s span) bool { return r.has(s, rTask, rTasks) >= 0 }

// saysCreate says that a message begins with a command that creates, not with words of a title.
func (r *reader) saysCreate(s span) bool {
	f := r.front(s)
	e, n := r.verb(f.lo, f.hi)
	return n > 0 && (e.class == vRemind || e.class == vNeed || e.class == vCreate)
}
