package understand

// remind reads what follows "remind me to", also with a time between: "remind me tomorrow to X".
func (r *reader) remind(h head) []Result {
	object := r.trimStart(h.object, fFiller)
	object, _ = r.withoutList(object)
	if r.trimEnd(object, tEnding).empty() {
		return one(Create, clear, Entities{}, "a command without a title")
	}
	const frame = "a request to be reminded"
	if r.at(object.lo, object.hi, fAsking) > r.at(object.lo, object.hi, tInfTo) { // "remember when …"
		return nil
	}
	about := span{object.lo + r.at(object.lo, object.hi, tInfTo), object.hi}
	if e, ok := r.listed(about); ok && r.has(about, rTasks, rList) >= 0 {
		return one(List, clear, e, "a request to be reminded of the list")
	}
	if r.onlyTime(object) {
		return one(Create, clear, Entities{}, "a command without a title")
	}
	if !h.when.empty() {
		object = r.withoutModal(object)
		out := r.added(object, false, clear, frame)
		if out != nil {
			out[len(out)-1].Entities.Title += " " + r.raw(h.when)
		}
		return out
	}
	if n := r.at(object.lo, object.hi, tInfTo); n > 0 {
		object = r.withoutModal(span{object.lo + n, object.hi})
	} else if when, rest, ok := r.timeBefore(object); ok && h.value == open {
		out := r.added(rest, false, clear, frame)
		if out != nil {
			last := &out[len(out)-1].Entities
			last.Title += " " + r.raw(when)
		}
		return out
	}
	return r.added(r.withoutModal(r.trimStart(object, fFiller)), r.hasLines(object), clear, frame)
}

// withoutModal takes "that I … must" from a title: "dass ich die Blumen gießen muss".
func (r *reader) withoutModal(s span) span {
	s = r.trimStart(s)
	if e, n := r.entry(s.lo, s.hi, tInfTo); n > 1 && e.value == 0 && s.lo+n < s.hi {
		s.lo += n
	}
	if n := r.at(s.lo, s.hi, vNeed); n > 0 && s.lo+n < s.hi {
		s.lo += n
	} else if n := r.at(s.lo, s.hi, tSaying, rAbout, tInfTo); n > 0 && r.at(s.lo+n, s.hi, vNeed) > 0 { // "that I have to"
		s.lo += n + r.at(s.lo+n, s.hi, vNeed)
	}
	if end := r.trimEnd(s, tEnding); r.lex.last && r.has(s, tInfTo) < s.lo {
		if n := r.before(end.lo, end.hi, vNeed, fAux); n == 1 && end.hi-n > end.lo {
			return span{end.lo, end.hi - n}
		}
	}
	return s
}

// onlyTime says that a part names nothing but a time: "at 5".
func (r *reader) onlyTime(s span) bool {
	if r.at(s.lo, s.hi, tTime) == 0 {
		return false
	}
	for i := s.lo; i < s.hi; i++ {
		if r.tokens[i].kind != number && r.at(i, s.hi, tTime, tInList) == 0 {
			return false
		}
	}
	return true
}

// timeBefore finds a time between "remind me" and the title.
func (r *reader) timeBefore(s span) (when, rest span, ok bool) {
	for i := s.lo + 1; i < min(s.lo+6, s.hi-1); i++ {
		if r.tokens[i].quoted {
			break
		}
		if r.at(s.lo, s.hi, rNot) > 0 {
			break
		}
		n := r.at(i, s.hi, tInfTo)
		if n > 0 && i+n < s.hi && (r.beginsErrand(span{i + n, s.hi}) || r.endsErrand(span{i + n, s.hi}) || r.at(i, i+n, tThat) > 0) {
			return r.trim(span{s.lo, i}), span{i + n, s.hi}, true
		}
	}
	return span{}, s, false
}

// need reads what the person has to do. Where that is what a command does to a task by its position, it may be one.
func (r *reader) need(h head) []Result {
	object := r.trimStart(h.object, fFiller, fHedge)
	if r.skip(object.lo, object.hi, rIts, tBack, rIt, tFrom, fFiller) == object.hi { // "ainda preciso dela"
		return nil
	}
	if r.before(object.lo, object.hi, fGreet) > 0 { // "vou dormir, boa noite"
		return one(Chat, asked, Entities{}, "somebody takes leave")
	}
	if h.value == noun {
		if out := r.newTask(object); out != nil {
			return out
		}
	}
	out := r.command(object)
	if out != nil && slicesAllExplicit(out) {
		doubt(out, asked)
		return out
	}
	if r.unsayable(object) {
		return nil
	}
	if n := r.before(object.lo, object.hi, vRemind); n > 0 && n < object.hi-object.lo { // "den Zahnarzt nicht vergessen"
		object.hi -= n
	}
	object, _ = r.withoutList(object)
	confidence := implied
	if h.value == noun && !r.beginsErrand(object) && !r.endsErrand(object) {
		confidence = asked
	}
	return r.added(object, false, confidence, "something that has to be done")
}

// errand reads a clause that begins with a verb of errands: a task in so many words.
func (r *reader) errand(s span, h head) []Result {
	if h.class == vErrandNoun && !r.beginsErrand(s) {
		return nil
	}
	object := r.trimEnd(h.object, tEnding)
	if object.empty() || r.at(object.lo, object.hi, fMe) > 0 && r.at(object.lo, object.hi, fMe) == object.hi-object.lo {
		return nil
	}
	if r.at(object.lo, object.hi, fMe) > 0 { // "write me a poem": for the assistant to do
		return one(Chat, weak, Entities{}, "a request for something else")
	}
	if ref, end := r.exact(object); ref != nil && end == object.hi || r.at(object.lo, object.hi, rTasks, rList) == object.hi-object.lo {
		return nil
	}
	confidence := implied
	if ref, end := r.exact(object); ref != nil && ref.Positions != nil && r.has(span{object.lo, end}, rTask, rTasks, rOne, rNumeroSign) >= 0 {
		confidence = asked // "make number 2 urgent" is no new task
	}
	s, listed := r.withoutList(s)
	if listed {
		confidence = clear - 0.04
	}
	return r.added(s, false, confidence, "a thing to do, in so many words")
}

// put reads "put X on my list" and "take X off my list".
func (r *reader) put(object span, value int) []Result {
	object = r.trimStart(object, fFiller, fMe)
	if out := r.listedBehind(object); out != nil {
		return out
	}
	if n := r.listPhrase(object.lo, object.hi, tTo); n > 0 {
		return r.added(r.trimStart(span{object.lo + n, object.hi}), false, clear, "something for the list")
	}
	s := r.trimEnd(object, tEnding, fFiller)
	at, from := r.destination(s)
	if task := r.trimStart(s); at < 0 && r.before(0, object.lo, vDelete, vDeleteWeak, vComplete, vCompleteWeak) == 0 && (r.isQuoted(task) || !r.lex.last && r.beginsErrand(task)) && r.mark(s) == nil {
		return r.added(task, false, implied, "something to be put down")
	}
	if at <= s.lo {
		return nil
	}
	rest := span{s.lo, at}
	if from {
		if ref := r.reference(rest); ref != nil && !ref.several {
			intent := Delete
			if value == crosses {
				intent = Complete
			}
			out := r.changed(intent, rest, ref, false)
			out[0].Reasoning = "something off the list"
			return out
		}
		return nil
	}
	rest, _, _ = r.afterNoun(rest)
	if e, n := r.entry(rest.lo, rest.hi, rIndefinite); n > 0 && e.value == 0 && !r.beginsErrand(rest) {
		rest.lo += n
	}
	return r.added(rest, false, clear, "something for the list")
}
