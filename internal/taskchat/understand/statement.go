package understand

// statement reads what is said without a command: what is done, what is to be done, or nothing of either. nil: it is none of them.
func (r *reader) statement(s span) []Result {
	out := r.timeless(s)
	if earlier := r.withoutEarlier(s); earlier != s && !completes(out) {
		if then := r.timeless(earlier); completes(then) && then[0].Confidence >= implied {
			return then
		}
	}
	return out
}

// completes says whether a task is said to be done that is named without words of its title.
func completes(out []Result) bool {
	if len(out) != 1 || out[0].Intent != Complete {
		return false
	}
	ref := out[0].Entities.Reference
	return ref != nil && ref.Title == ""
}

// timeless is a statement as it is without regard to a time at its end.
func (r *reader) timeless(s span) []Result {
	if out := r.calledState(s); out != nil {
		return out
	}
	if out := r.newTask(s); out != nil {
		return out
	}
	if out := r.doneState(s); out != nil {
		return out
	}
	if out := r.donePast(s); out != nil {
		return out
	}
	if out := r.notDone(s); out != nil {
		return out
	}
	return r.gone(s)
}

// ago are adverbs that say when something was done, beside days and times.
var ago = map[string]bool{"earlier": true, "yesterday": true, "now": true, "vorhin": true, "gestern": true, "eben": true, "gerade": true, "ontem": true, "agora": true}

// withoutEarlier takes from the end of a part when something was done: "I finished it just now".
func (r *reader) withoutEarlier(s span) span {
	for cut := s; ; {
		cut = r.trimEnd(cut, tAlready, fFiller)
		s = cut
		n := 0
		for k := 1; k <= mostEarlier && cut.hi-k > cut.lo; k++ {
			if part := (span{cut.hi - k, cut.hi}); r.isWhen(part) || k == 1 && ago[r.tokens[part.lo].norm] {
				n = k
			}
		}
		if n == 0 {
			return s
		}
		cut.hi -= n
	}
}

// mostEarlier bounds the words of a time: "at 5 on the 3rd of May".
const mostEarlier = 8

// notDone reads "I didn't finish task 2".
func (r *reader) notDone(s span) []Result {
	i := r.skip(s.lo, s.hi, fSubject, fPerfect, tAlready, fFiller)
	n := r.at(i, s.hi, rNot)
	if n == 0 || i == s.lo {
		return nil
	}
	i = r.skip(i+n, s.hi, tAlready, fFiller)
	k := r.at(i, s.hi, vComplete, vCompleteWeak, tDone)
	if k == 0 || i+k >= s.hi {
		return nil
	}
	ref := r.reference(span{i + k, s.hi})
	if ref == nil || ref.several || !ref.explicit && r.at(i+k, s.hi, rArticle) == 0 {
		return nil
	}
	return r.stated(s, ref, true)
}

// gone reads "task 2 can go", "the gym is no longer needed". It only asks: somebody may just say so.
func (r *reader) gone(s span) []Result {
	s = r.trimEnd(s, tEnding, fFiller, tAlready)
	subject := span{s.lo + r.at(s.lo, s.hi, tNeedless), s.hi}
	n := r.before(s.lo, s.hi, tGone)
	if subject.lo > s.lo {
		n = 0
	} else if n == 0 || r.at(s.lo, s.hi, fSubject) > 0 && r.at(s.lo, s.hi, rArticle, rIt) == 0 {
		return nil
	}
	subject = r.trim(span{subject.lo, s.hi - n}, fFiller, tAlready)
	ref := r.reference(subject)
	if n > 0 && r.has(subject, rNot) >= 0 { // "a segunda não pode ser apagada"
		return nil
	}
	if ref == nil || ref.several || n == 0 && !ref.explicit && r.at(subject.lo, subject.hi, rArticle) == 0 || r.unsayable(subject) && !ref.explicit {
		return nil
	}
	return one(Delete, min(asked, r.trust(ref)), Entities{Reference: &ref.Reference, Status: ref.status}, "something is said not to be needed")
}

// doneState reads "task 2 is done", "done with the report", "finished 2".
func (r *reader) doneState(s span) []Result {
	if r.ends(s) {
		return one(Chat, asked, Entities{}, "somebody is done talking")
	}
	s = r.trimEnd(s, tEnding, fFiller, tAlready)
	if out := r.doneSubject(s); out != nil {
		return out
	}
	if out := r.doneFirst(s); out != nil {
		return out
	}
	n := r.before(s.lo, s.hi, tDone)
	open := false
	if k := r.before(s.lo, s.hi, tUndone); k > n {
		n, open = k, true
	}
	linkedTo := r.trimEnd(span{s.lo, s.hi - 1}, tAlready, fFiller, rAll, rBoth).hi
	if n == 0 && s.hi-1 > s.lo && (r.before(s.lo, s.hi-1, tLink) > 0 || r.before(s.lo, linkedTo, tLink) > 0) && r.isParticiple(s.hi-1) {
		n = 1
	}
	if n == 0 || s.hi-n <= s.lo {
		return nil
	}
	rest := span{s.lo, s.hi - n}
	linked := r.setsApart(rest.hi-1) || r.endsErrand(rest)
	for k := 1; k > 0; rest.hi -= k {
		if k = r.before(rest.lo, rest.hi, rNot); k > 0 {
			open, linked = true, true
		} else if k = r.before(rest.lo, rest.hi, tLink); k > 0 {
			linked = true
		} else if k = r.allBehind(rest); k > 0 { // "are all cleaned"
		} else if k = r.before(rest.lo, rest.hi, fFiller, tAlready); k == 0 && r.setsApart(rest.hi-1) {
			k = 1
		}
	}
	rest = r.trim(rest, fFiller, tAlready)
	if k := r.at(rest.lo, rest.hi, fPerfect); k > 0 {
		rest.lo += k
		linked = true
		if past := r.pastAt(rest.lo, rest.hi); past < rest.hi-rest.lo { // "I have got 2 done"
			rest.lo += past
		}
	} else if k := r.at(rest.lo, rest.hi, fSubject); k > 0 && r.at(rest.lo, rest.hi, rIt) == 0 {
		rest.lo += k
	}
	if k := r.at(rest.lo, rest.hi, tWith, tFrom); k > 0 { // "ich bin mit 2 fertig"
		rest.lo += k
	}
	return r.stateOf(s, rest, linked, open)
}

// setsApart says that a sign stands between a task and its state.
func (t *text) setsApart(i int) bool { return t.sign(i, ":", "-", "->", ",") }

// stateOf is that what a part names is done, or still open.
func (r *reader) stateOf(s, rest span, linked, open bool) []Result {
	if rest.empty() {
		return nil
	}
	if r.namesNone(rest) {
		return one(Chat, asked, Entities{}, "nothing is done")
	}
	ref := r.reference(rest)
	if ref != nil && ref.several && linked && r.words(rest) > 0 && r.at(rest.lo, rest.hi, rArticle, rIndefinite, rNumber) > 0 {
		return one(Complete, asked-0.05, Entities{}, "something is done, and not said what")
	}
	if ref == nil || ref.several || (r.isSubject(rest.lo, rest.hi) || r.lex.last && r.speaks(rest)) && !ref.explicit {
		return nil
	}
	if !linked && !ref.explicit && !r.onlyKind(rest.lo) && r.lex.known(r.tokens[rest.lo].norm) && r.at(rest.lo, rest.hi, rArticle) == 0 {
		return nil
	}
	return r.stated(s, ref, open)
}

// namesNone says that a part speaks of nothing at all: "nothing today", "heute nichts".
func (r *reader) namesNone(s span) bool {
	i := r.has(s, rNone)
	return i >= 0 && !r.tokens[i].quoted && r.skip(s.lo, s.hi, tInList, tAlready, fFiller, fClosing) >= i
}

// onlyKind says that a word is nothing but the kind of a list, which may be a title as well: "groceries".
func (r *reader) onlyKind(i int) bool {
	return len(r.found[i]) == 1 && r.found[i][0].class == rListKind
}

// doneSubject reads "both are done", "the third one's finished", "they are all done": tasks named without a title, and their state.
func (r *reader) doneSubject(s span) []Result {
	n := r.before(s.lo, s.hi, tDone)
	if n == 0 && s.hi-1 > s.lo && r.isParticiple(s.hi-1) {
		n = 1
	}
	if n == 0 || r.has(s, rNot) >= 0 {
		return nil
	}
	if s.hi-n > s.lo { // "they are all done"
		n -= r.at(s.hi-n, s.hi-1, rAll, rBoth)
	}
	subject := r.trimEnd(span{s.lo, s.hi - n}, tAlready, fFiller)
	for k := 1; k > 0; subject.hi -= k {
		k = r.before(subject.lo, subject.hi, tLink, tAlready)
	}
	subject = r.trim(subject, fFiller)
	if subject.empty() {
		return nil
	}
	ref, end := r.exact(subject)
	if ref != nil && end == subject.hi && !ref.It && ref.status == "" {
		return r.stated(s, ref, false)
	}
	i := r.skip(subject.lo, subject.hi, fSubject, fBe, tLink) // "they are both done"
	if i > subject.lo && r.at(subject.lo, subject.hi, tItIs) == 0 && r.at(i, subject.hi, rBoth, rEach, rAll) == subject.hi-i && i < subject.hi {
		both, n := r.entry(i, subject.hi, rBoth)
		all := Reference{Words: r.raw(span{i, subject.hi}), All: true, Both: n > 0 && both.value == 0}
		return r.stated(s, &named{Reference: all, explicit: true}, false)
	}
	return nil
}

// isParticiple says that a token says what was done to something.
func (r *reader) isParticiple(i int) bool {
	t := r.tokens[i]
	return t.kind == word && !t.quoted && (r.lex.participle(t.norm) || r.at(i, i+1, tPast) > 0) && r.at(i, i+1, fStative) == 0
}

// ends says that somebody is done with talking: "I'm finished for today", "done here, good night".
func (r *reader) ends(s span) bool {
	i := r.skip(s.lo, s.hi, fSubject, fPerfect, fBe, tAlready, fFiller, tItIs, fMe)
	n := r.at(i, s.hi, tDone)
	if n == 0 {
		n = r.pastAt(i, s.hi)
	}
	if n == 0 {
		return false
	}
	rest := span{i + n, s.hi}
	if r.has(rest, fClosing) >= 0 && r.skipSigns(rest, fClosing, fFiller, tAlready, fGreet, fThanks, tEnding, tWith, rIt, rEach) == rest.hi {
		return true
	}
	if n := r.before(rest.lo, rest.hi, fClosing); n > 1 && r.has(rest, rArticle, rTask, rTasks, rOne) < 0 && r.plain(span{rest.lo, rest.hi - n}) == nil {
		return true
	}
	if r.at(s.lo, s.hi, fSubject) > 0 && r.has(rest, fThanks) >= 0 && r.skipSigns(rest, fFiller, tAlready, fThanks) == rest.hi {
		return true
	}
	return r.has(rest, fGreet) >= 0 && r.skipSigns(rest, fFiller, tAlready, fGreet, fThanks, tEnding, tWith, rIt, fMe) == rest.hi
}

// doneFirst reads "done with task 2", "finished the report", "fertig mit 2".
func (r *reader) doneFirst(s span) []Result {
	i := r.skip(s.lo, s.hi, fSubject, fPerfect, fBe, tAlready, fFiller)
	if r.at(s.lo, s.hi, tDone) == s.hi-s.lo {
		i = s.lo
	}
	n := r.at(i, s.hi, tDone)
	if n == 0 || i > s.lo && r.at(i, s.hi, tFrom) == n && i+n < s.hi { // "I'm off to bed"
		return nil
	}
	i += n
	linked := r.at(i, s.hi, tWith)
	i += linked
	if r.sign(i, ":") {
		i, linked = i+1, 1
	}
	if i >= s.hi {
		if linked > 0 || r.words(s) > 3 && r.at(s.lo, s.hi, fPerfect) == 0 {
			return nil
		}
		out := one(Complete, asked-0.05, Entities{}, "something is done")
		alone := r.at(s.lo, s.hi, fPerfect) == 1 && r.at(s.lo, s.hi, fSubject) == 1 // "I finished" may be all that there is to say
		if (r.at(s.lo, s.hi, tItIs) > 0 || r.at(s.lo, s.hi, fPerfect) > 0 && !alone) && r.context.Spoken {
			out[0].Confidence = implied
		}
		if r.context.Spoken {
			out[0].Entities.Reference = &Reference{Words: r.raw(s), It: true}
		}
		return out
	}
	if k := r.at(i, s.hi, tLink); k > 0 && linked == 0 { // "erledigt ist die zweite"
		i, linked = i+k, 1
	}
	ref := r.reference(span{i, s.hi})
	if ref == nil || ref.several {
		return nil
	}
	if ref.Title != "" && !ref.explicit && linked == 0 && r.at(i, s.hi, rArticle) == 0 && i == s.lo+n && r.at(s.lo, s.hi, tPast) == 0 {
		return nil
	}
	return r.stated(s, ref, false)
}

// stated is a Complete, or the opening of a task again, that was said without a command.
func (r *reader) stated(s span, ref *named, open bool) []Result {
	e := Entities{Status: ref.status, Reference: &ref.Reference}
	confidence := implied
	if ref.explicit && ref.Title == "" {
		confidence = likely
	}
	confidence = min(confidence, r.trust(ref))
	if open {
		e.Status = "pending"
		return one(Update, min(asked, confidence), e, "something is said not to be done")
	}
	out := one(Complete, confidence, e, "something is said to be done")
	if ref.Title != "" {
		out[0].Alternatives = []Alternative{{Create, low, Entities{Title: r.title(s)}}, {Chat, low, Entities{}}}
	}
	return out
}

// donePast reads "I bought the milk", "ich habe die Milch gekauft", "comprei o leite".
func (r *reader) donePast(s span) []Result {
	s = r.trimEnd(s, tEnding, fFiller)
	lo := r.skip(s.lo, s.hi, fFiller, tAlready)
	perfect, n := r.entry(lo, s.hi, fPerfect)
	if r.has(s, rNot) >= 0 || r.at(lo+n, s.hi, rNot) > 0 {
		return nil
	}
	i := r.skip(lo+n, s.hi, fFiller, tAlready)
	if r.lex.pastAlone && (i > s.lo || r.before(0, i, tAlready) > 0) && r.context.Spoken && i < s.hi && (r.pastAt(i, s.hi) == s.hi-i || r.at(i, s.hi, tLink) == s.hi-i) { // "já fiz"
		return one(Complete, implied, Entities{Reference: &Reference{Words: r.raw(s), It: true}}, "something is said to be done")
	}
	if k := r.pastAt(i, s.hi); k > 0 && i+k < s.hi && (n > 0 || r.lex.pastAlone || r.told) {
		return r.doneObject(s, span{i + k, s.hi})
	} else if k > 0 && i+k < s.hi && !r.lex.last && r.at(i, s.hi, fSubject) == 0 && !r.verbBehind(i, s.hi) { // "bought milk": who did is left out
		out := r.doneObject(s, span{i + k, s.hi})
		doubt(out, asked)
		return out
	}
	if k := r.at(i, s.hi, vErrand, vErrandNoun, vComplete, vCompleteWeak); perfect.value == 1 && k > 0 && i+k < s.hi { // "I managed to pay the bill"
		return r.doneObject(s, span{i + k, s.hi})
	}
	if perfect.value == 1 && n > 0 && i+1 < s.hi && r.lex.infinitive(r.tokens[i], false) { // "acabei de pagar a conta"
		return r.doneObject(s, span{i + 1, s.hi})
	}
	if !r.lex.last {
		return nil
	}
	end := s.hi - 1 // the participle at the end
	if r.pastAt(end, s.hi) == 0 || end <= i {
		return nil
	}
	if n == 0 && r.has(s, fPerfect) < 0 {
		if r.lex.infinitive(r.tokens[end], false) && r.at(end, s.hi, tPast) == 0 || r.tokens[end].kind == word && r.capital(end) && r.cased() {
			return nil
		}
		out := r.doneObject(s, span{i, end}) // "Mama angerufen": who did is left out
		doubt(out, asked)
		return out
	}
	object := span{i, end}
	if n == 0 { // "die Milch habe ich gekauft"
		object = span{lo, r.has(s, fPerfect)}
	}
	return r.doneObject(s, object)
}

func (r *reader) pastAt(i, hi int) int {
	if i >= hi || r.tokens[i].kind != word || r.tokens[i].quoted {
		return 0
	}
	if n := r.at(i, hi, tPast); n > r.at(i, hi, fStative) {
		return n
	} else if r.at(i, hi, fStative) > 0 {
		return 0
	}
	if r.lex.past(r.tokens[i].norm) && r.at(i, hi, rArticle, fFiller, rNumber, rOrdinal, tInList) == 0 {
		return 1
	}
	return 0
}

func (r *reader) doneObject(s, object span) []Result {
	object = r.trim(object, fFiller, tAlready, fMe, tWith)
	if r.at(object.lo, object.hi, rBoth, rArticle) == 0 {
		object.lo = r.skip(object.lo, object.hi, tTo)
	}
	if object.empty() {
		return nil
	}
	if at, _ := r.destination(object); at > object.lo { // "I put milk on the list"
		return one(Chat, asked, Entities{}, "something was done with the list")
	}
	if r.namesNone(object) {
		return one(Chat, asked, Entities{}, "nothing is done")
	}
	ref := r.reference(object)
	if ref == nil || ref.several || ref.Title != "" && r.speaks(object) {
		return nil
	}
	return r.stated(s, ref, false)
}

// bareWords reads what has no verb that is known: a reference, talk, or a title.
func (r *reader) bareWords(s span) []Result {
	s = r.trimEnd(s, tEnding)
	if e, ok := r.listed(s); ok {
		return one(List, likely, e, "the list is named")
	}
	if n, end := r.exact(s); n != nil && end == s.hi {
		return one(Choose, weak, Entities{Status: n.status, Reference: &n.Reference}, "a task without what to do with it")
	}
	if r.unsayable(s) || r.at(s.lo, s.hi, rNot) > 0 || !r.quotation(s).empty() && r.has(s, fStative) >= 0 {
		r.guessed = true
		return one(Chat, weak, Entities{}, "a statement")
	}
	if r.isOpen(s) {
		return one(Chat, weak, Entities{}, "a task, but none that is named")
	}
	r.guessed = true
	confidence := bare
	if r.words(s) > 8 {
		confidence = low
	}
	if r.words(s) == 0 {
		return one(Chat, asked, Entities{}, "no words")
	}
	if e, n := r.verb(s.lo, s.hi); n > 0 && e.class < vErrand && e.class != vCreate {
		confidence = low
	}
	out := r.added(s, false, confidence, "words that may be a title")
	if out == nil {
		return one(Chat, weak, Entities{}, "no words")
	}
	return out
}

// unsayable says that words are no title: they speak to or of somebody, or of how something is.
func (r *reader) unsayable(s span) bool {
	if r.at(s.lo, s.hi, fTalk, fGreet, fThanks, fReport) > 0 || r.at(s.lo, s.hi, fSubject) > 0 && (r.isSubject(s.lo, s.hi) || !r.capital(s.lo+1)) {
		return true
	}
	for i := s.lo + 1; i < s.hi; i++ {
		if r.at(i, s.hi, fBe) > 0 && !r.tokens[i].quoted {
			return true
		}
	}
	return false
}

// allBehind is the length of "all" behind a subject and what links it to its state; 0: there is none.
func (r *reader) allBehind(s span) int {
	n := r.before(s.lo, s.hi, rAll, rBoth)
	link := r.before(s.lo, s.hi-n, tLink, fFiller, tAlready)
	if n == 0 || link == 0 || s.hi-n-link <= s.lo {
		return 0
	}
	return n
}

// isSubject says that a token is somebody or something that does, and no article of what follows: "das", "die" are both in German.
func (r *reader) isSubject(i, hi int) bool {
	return r.at(i, hi, fSubject) > 0 && (r.at(i, hi, rArticle) == 0 || i+1 >= hi || r.tokens[i+1].kind != word)
}

// speaks says that a part has a subject or a verb of saying.
func (r *reader) speaks(s span) bool {
	for i := s.lo; i < s.hi; i++ {
		if r.isSubject(i, s.hi) || r.at(i, s.hi, fReport) > 0 {
			return true
		}
	}
	return false
}
