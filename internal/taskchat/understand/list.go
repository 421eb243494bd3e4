package understand

// list reads what follows "show": the list, a part of it, one task. nil: it is nothing of the list.
func (r *reader) list(object span, final bool) []Result {
	object = r.trim(object, fMe, fFiller)
	if object.empty() {
		if final {
			return nil
		}
		return one(List, clear-0.02, Entities{}, "a verb alone")
	}
	if e, ok := r.listed(object); ok {
		return one(List, clear, e, "a command and the list")
	}
	if r.at(object.lo, object.hi, fAsking, fHelp) > 0 {
		return r.question(object)
	}
	if r.isOpen(object) && r.has(object, rAnother) >= 0 {
		return one(List, likely, Entities{}, "a command and the rest of the list")
	}
	object = r.trimStart(object, rNew, rAbout)
	if ref := r.reference(object); ref != nil && ref.explicit && !ref.It && !ref.several {
		return one(List, asked, Entities{Reference: &ref.Reference}, "a command and tasks of the list")
	}
	return nil
}

// ofDone is the value of words that ask for what was completed: "did I finish".
const ofDone = 1

// ofState is the value of words that ask for tasks only with a state behind: "is the report done".
const ofState = 1

// ofPosition is the value of words that ask for tasks only by their positions: "what is task 2".
const ofPosition = 2

// listed says whether a part speaks of the list, and which part of it: "my open tasks about the house, newest first".
func (r *reader) listed(s span) (e Entities, ok bool) {
	anchored, either := false, false
	for i := s.lo; i < s.hi; {
		if i > s.lo && anchored && !r.tokens[i].quoted && r.at(i, s.hi, rAbout) > 0 && e.Reference == nil {
			if topic := r.topic(i, s.hi); topic != nil {
				e.Reference = topic
				break
			}
		}
		was := e.Status
		n, found := r.listWord(i, s.hi, &e)
		if n == 0 && was != "" {
			n = r.at(i, s.hi, rNot) // "done or not"
			either = either || n > 0
		}
		if n == 0 {
			return e, false
		}
		either = either || was != "" && e.Status != was // "done or open"
		anchored = anchored || found
		i += n
	}
	if either {
		e.Status = ""
	}
	return e, anchored
}

// listWord reads one word or phrase of a request for the list. anchor says that it shows that the list is meant.
func (r *reader) listWord(i, hi int, e *Entities) (n int, anchor bool) {
	if n = r.at(i, hi, tNewest); n > 0 {
		e.Newest = true
		return n, true
	}
	if j := r.skip(i, hi, rListKind); j > i && r.at(j, hi, rList) > 0 {
		return j + r.at(j, hi, rList) - i, true
	}
	not := r.at(i, hi, rNot)
	if r.at(i, hi, vComplete, vCompleteWeak) > 0 && r.before(0, i, fSubject, fAsking) > 0 {
		return 0, false
	}
	if k := r.at(i+not, hi, tDone); k > 0 && (not > 0 || r.longest(i) <= k) {
		if e.Status = "completed"; not > 0 {
			e.Status = "pending"
		}
		return not + k, true
	}
	if n = r.at(i, hi, tStill); n > 0 && n >= r.at(i, hi, tUndone, tAnchor) {
		e.Status = "pending"
		return n, true
	}
	if n = r.at(i, hi, tUndone); n > 0 {
		e.Status = "pending"
		return n, true
	}
	if k, n := r.entry(i, hi, rList, rTasks, tAnchor, rEach); n > 0 {
		if k.class == tAnchor && k.value == ofDone {
			e.Status = "completed"
		}
		return n, true
	}
	if n = r.at(i, hi, rAll, rBoth, rTask, rOne, rOnes); n > 0 {
		return n, r.at(i, hi, rAll) > 0
	}
	if n = r.at(i, hi, tInList, rArticle, rIndefinite, rWhole, rOf, rListKind, rNew, fFiller, tEnding, fMe, fSubject, fAux, fBe, tTo, tWith, tAs); n > 0 {
		return n, false
	}
	if r.sign(i, ",", "?", ".", "!", ":", "(", ")", "-", "\n") || r.tokens[i].kind == emoji {
		return 1, false
	}
	return 0, false
}

// longest is the length of the longest phrase of a request for the list at a token.
func (r *reader) longest(i int) int { return r.at(i, len(r.tokens), tAnchor, tStill) }

// topic reads what the tasks that are asked for are about, to the end of the part.
func (r *reader) topic(i, hi int) *Reference {
	if r.listPhrase(i, hi, tTo, tFrom, rOf, rAbout) > 0 {
		return nil
	}
	s := span{i + r.at(i, hi, rAbout), hi}
	s = r.trimEnd(span{r.skip(s.lo, s.hi, rArticle), s.hi}, tEnding, fFiller, tTail)
	if s.empty() {
		return nil
	}
	if r.onlyListWords(s) { // "for today" names no topic
		return nil
	}
	return &Reference{Words: r.raw(s), Title: r.raw(r.unquoted(s))}
}

func (r *reader) onlyListWords(s span) bool {
	var e Entities
	for i := s.lo; i < s.hi; {
		n, _ := r.listWord(i, s.hi, &e)
		if n == 0 {
			return false
		}
		i += n
	}
	return true
}

// find reads what follows "search for". elsewhere says that the verb may also mean a search in the world.
func (r *reader) find(object span, elsewhere bool) []Result {
	object = r.trim(object, fMe, fFiller)
	if object.empty() {
		return nil
	}
	if e, ok := r.listed(object); ok {
		return one(List, clear, e, "a search in the list")
	}
	ref := r.reference(object)
	if ref == nil || ref.Title == "" {
		return nil
	}
	e := Entities{Reference: &Reference{Words: ref.Words, Title: ref.Title}}
	if at, _ := r.destination(object); ref.explicit || at > object.lo {
		return one(List, clear, e, "a search in the list")
	}
	out := one(List, asked, e, "a search, perhaps in the list")
	if elsewhere || r.at(object.lo, object.hi, rIndefinite) > 0 {
		out[0].Confidence = weak
	}
	out[0].Alternatives = []Alternative{{Create, weak - 0.05, Entities{Title: r.title(object)}}}
	return out
}

// undo reads "undo", "undo the last thing". Of a task by its position it takes the state back.
func (r *reader) undo(object span) []Result {
	object = r.trim(object, fMe, fFiller, tEnding)
	if object.empty() {
		return one(Undo, clear, Entities{}, "a request to take something back")
	}
	ref, end := r.exact(object)
	if ref != nil && end == object.hi && ref.Positions != nil && r.has(object, tChange) < 0 {
		return one(Update, asked, Entities{Status: "pending", Reference: &ref.Reference}, "a task's state is to be taken back")
	}
	if r.has(object, tPassive, fStative) >= 0 && (ref == nil || end < object.hi) { // "the deleted task"
		return one(Undo, clear-0.02, Entities{}, "a request to take something back")
	}
	if ref != nil && end == object.hi || r.skip(object.lo, object.hi, rArticle, rOrdinal, tChange, rOf, fMe, fSubject, fPerfect) == object.hi {
		return one(Undo, clear, Entities{}, "a request to take something back")
	}
	return nil
}

// question reads a question: for the list, for help, or for neither. It never changes anything.
func (r *reader) question(s span) []Result {
	s = r.trimEnd(s, tEnding)
	lo := r.skip(s.lo, s.hi, fFiller, rAnd)
	rest := span{lo, s.hi}
	if n := r.at(lo, s.hi, fHelp); n > 0 {
		return one(Help, clear, Entities{}, "a question how something is done")
	}
	body := span{r.skip(lo, s.hi, fAsking, fAux, fSubject), s.hi}
	if e, ok := r.askedList(rest); ok {
		return one(List, clear-0.02, e, "a question for the list")
	}
	if e, ok := r.askedOnList(rest); ok {
		return one(List, asked, e, "a question whether something is on the list")
	}
	if e, ok := r.askedAbout(rest); ok {
		return one(List, asked, e, "a question for tasks about something")
	}
	for i := body.lo; i < s.hi; i++ {
		if e, n := r.verb(i, s.hi); n > 0 && e.class > vNeed && e.class < vErrand || r.at(i, s.hi, tPassive) > 0 {
			if e.class == vList && i+n < s.hi && r.has(span{i, s.hi}, rTasks, rList) >= 0 && r.at(lo, s.hi, fAsking, fAux) > 0 {
				if found := r.list(span{i + n, s.hi}, false); found != nil {
					return found
				}
			}
			return one(Help, asked, Entities{}, "a question about what can be done")
		}
	}
	return one(Chat, asked, Entities{}, "a question")
}

// askedList reads "what do I have to do today?": nothing but words of such questions, and at the end what the tasks are about.
func (r *reader) askedList(s span) (e Entities, ok bool) {
	anchored := false
	for i := s.lo; i < s.hi; {
		if anchored && r.at(i, s.hi, rAbout) > 0 {
			if e.Reference = r.topic(i, s.hi); e.Reference != nil {
				return e, true
			}
		}
		n, found := r.listWord(i, s.hi, &e)
		if n == 0 {
			n = r.at(i, s.hi, fAsking)
		}
		if n == 0 {
			return e, false
		}
		anchored = anchored || found
		i += n
	}
	return e, anchored
}

// askedOnList reads "is milk on the list?": what is asked for, and the list behind it.
func (r *reader) askedOnList(s span) (e Entities, ok bool) {
	at, from := r.destination(s)
	if at <= s.lo || from {
		return e, false
	}
	i := r.skip(s.lo, s.hi, fAsking, fAux, fPerfect, tInList, fFiller, tAlready, rIndefinite, tWhereIs, tPast, rArticle)
	topic := r.trim(span{i, at}, tEnding, fFiller, fBe, tAlready, tGoes, tLink)
	if topic.empty() || r.onlyListWords(topic) || r.has(topic, rIt) == topic.lo {
		return e, false
	}
	for j := topic.lo; j < topic.hi; j++ {
		if v, n := r.verb(j, topic.hi); n > 0 && v.class < vErrand || r.at(j, topic.hi, tPassive, fSubject) > 0 {
			return e, false
		}
	}
	e.Reference = &Reference{Words: r.raw(topic), Title: r.raw(r.unquoted(topic))}
	return e, true
}

// askedAbout reads "is there anything about the dentist", "when is the dentist?": what is asked for by words of a title.
func (r *reader) askedAbout(s span) (e Entities, ok bool) {
	lo := r.skip(s.lo, s.hi, fFiller, rAnd)
	asked, n := r.entry(lo, s.hi, tWhereIs)
	if n == 0 {
		return e, false
	}
	i := r.skip(lo+n, s.hi, rArticle, rAbout)
	end := s.hi
	if k := r.before(i, end, tDone, tStill, tUndone); k > 0 {
		end -= k
	} else if asked.value == ofState {
		return e, false
	}
	topic := r.trimEnd(r.trim(span{i, end}, tEnding, fFiller, fBe), rAbout)
	if topic.empty() || r.at(topic.lo, topic.hi, fSubject, rIt) > 0 {
		return e, false
	}
	if r.onlyListWords(topic) {
		return e, false
	}
	ref := r.reference(topic)
	if ref == nil || ref.several || ref.It || ref.All || asked.value == ofPosition && ref.Positions == nil {
		return e, false
	}
	e.Reference = &ref.Reference
	return e, true
}
