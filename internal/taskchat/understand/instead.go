package understand

// insteadOf are words that put what is said in the place of something before it.
var insteadOf = map[string]bool{"instead": true, "stattdessen": true, "lieber": true}

// withoutInstead takes such words from the end of a part.
func (r *reader) withoutInstead(s span) span {
	s = r.trimEnd(s, tEnding)
	for !s.empty() && insteadOf[r.tokens[s.hi-1].norm] {
		s = r.trimEnd(span{s.lo, s.hi - 1}, tEnding)
	}
	return s
}

// whenBehind is a day or time with nothing before it but what takes back what was said; empty: it is something else.
func (r *reader) whenBehind(s span) span {
	for lo := s.lo; lo < s.hi; {
		to := r.withoutInstead(span{lo, s.hi})
		if r.isWhen(to) {
			if after := r.towards(to); r.isWhen(after) { // "to next week"
				return after
			}
			return to
		}
		n := r.at(lo, s.hi, fAgain, fMeant, yNo, fTalk, fFiller)
		if n == 0 && r.tokens[lo].kind == sign {
			n = 1
		}
		if n == 0 {
			break
		}
		lo += n
	}
	return span{}
}

// instead reads what gives the task that was spoken of another day or title: "make it Wednesday instead", "call it oat milk instead".
func (r *reader) instead(s span) []Result {
	if !r.context.Spoken || r.context.Open != nil {
		return nil
	}
	n := r.at(s.lo, s.hi, tLeads)
	if k := r.at(s.lo, s.hi, vUpdateWeak, vMark, vMove, vPut); n == 0 && k > 0 {
		if it := r.at(s.lo+k, s.hi, rIt); it > 0 {
			n = k + it + r.at(s.lo+k+it, s.hi, tTo, tInto)
		}
	}
	if n == 0 || s.lo+n >= s.hi {
		return nil
	}
	value := r.withoutInstead(span{s.lo + n, s.hi})
	ref := r.it(s.lo, s.lo+n)
	switch said := value.hi < r.trimEnd(s, tEnding).hi; {
	case r.isWhen(value):
		return r.moved(ref, value)
	case said && !value.empty():
		return one(Update, min(clear, r.trust(ref)), Entities{Title: r.title(value), Reference: &ref.Reference}, "another title instead of the one before")
	}
	return nil
}

// aims are prepositions before the time to which something is moved, beside those of a new value.
var aims = map[string]bool{"for": true, "until": true, "till": true, "fur": true, "bis": true, "para": true, "pra": true}

// aim is the length of a preposition before a new time.
func (r *reader) aim(i, hi int, more ...class) int {
	if i < hi && aims[r.tokens[i].norm] {
		return 1
	}
	return r.at(i, hi, append(more, tTo, tInto)...)
}

// towards is what a preposition before a new time stands before; empty: there is none.
func (r *reader) towards(s span) span {
	n := r.aim(s.lo, s.hi)
	if n == 0 {
		return span{}
	}
	return r.withoutInstead(r.value(span{s.lo + n, s.hi}))
}

// exchanged reads one time in the place of another: "Friday to Saturday in the dinner task", "Monday for Tuesday in the second one".
func (r *reader) exchanged(object span) []Result {
	for i := object.lo + 1; i < min(object.hi, object.lo+mostWhen+1); i++ {
		n := r.aim(i, object.hi, tWith)
		if n == 0 || !r.isWhen(span{object.lo, i}) {
			continue
		}
		for end := min(object.hi-1, i+n+mostWhen); end > i+n; end-- {
			to, rest := span{i + n, end}, span{end, object.hi}
			if !when().before[r.tokens[end].norm] || !r.isWhen(to) {
				continue
			}
			for !rest.empty() && when().before[r.tokens[rest.lo].norm] && r.at(rest.lo, rest.hi, rArticle) == 0 {
				rest.lo++
			}
			if ref := r.reference(r.trimEnd(rest, tEnding)); ref != nil && !ref.several {
				return r.moved(ref, to)
			}
		}
	}
	return nil
}

// timeAdded reads "add “at 3pm” to the dentist task": the time of a task, and no task.
func (r *reader) timeAdded(s span, verb entry, n int) []Result {
	if n == 0 || verb.class != vCreate && verb.class != vPut {
		return nil
	}
	s.lo += n
	for i := s.lo + 1; i < min(s.hi, s.lo+mostWhen); i++ {
		k := r.at(i, s.hi, tTo)
		time := r.unquoted(r.trim(span{s.lo, i}))
		if k == 0 || time.empty() || !SaysWhen(r.raw(time)) {
			continue
		}
		rest := r.trimEnd(span{i + k, s.hi}, tEnding)
		if ref := r.reference(rest); ref != nil && !ref.several && r.has(rest, rList) < 0 {
			return r.moved(ref, time)
		}
	}
	return nil
}
