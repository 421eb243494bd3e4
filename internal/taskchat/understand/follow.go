package understand

// certain is how sure a follow-up is of what was asked for before.
func certain(i Intent) float64 {
	if i == Delete {
		return 0.9
	}
	return likely
}

// followUp reads "and the first one", "the third too" after a command: its intent, of another task. nil: it is none.
func (r *reader) followUp(s span) []Result {
	if r.previous == "" || r.context.Open != nil {
		return nil
	}
	lo := r.skipSigns(s, fFiller, fToo, rAnd, tThen, fThanks, fTalk)
	rest := r.trim(span{lo, s.hi}, fFiller, fToo, tEnding, fThanks)
	begins := r.has(span{s.lo, lo}, rAnd, tThen, fToo) >= 0
	ends := rest.hi < s.hi && r.has(span{rest.hi, s.hi}, fToo) >= 0
	if rest.empty() || !begins && !ends || r.sign(s.hi-1, "?") {
		return nil
	}
	const why = "more of what was asked for before"
	if _, n := r.verb(rest.lo, rest.hi); n > 0 && (r.previous == Create || r.command(rest) != nil) {
		return nil
	}
	if r.previous == Create {
		if ref, end := r.exact(rest); ref != nil && end == rest.hi || r.unsayable(rest) {
			return nil
		}
		if e, n := r.entry(rest.lo, rest.hi, rIndefinite); n > 0 && e.value == 0 && !r.beginsErrand(rest) {
			rest.lo += n
		}
		return r.added(rest, false, implied, why)
	}
	if r.previous == Update {
		if out := r.retitle(rest, head{class: vUpdate, object: rest}); out != nil {
			doubt(out, likely)
			return out
		}
	}
	ref := r.reference(rest)
	if ref == nil || ref.several || ref.doubt && r.tokens[rest.lo].kind != number || r.unsayable(rest) && !ref.explicit {
		return nil
	}
	confidence := min(certain(r.previous), r.trust(ref)+0.05)
	out := one(r.previous, confidence, Entities{Reference: &ref.Reference, Status: ref.status}, why)
	if ref.Title != "" && !ref.explicit && r.at(rest.lo, rest.hi, rArticle) == 0 {
		doubt(out, implied)
		out[0].Alternatives = []Alternative{{Create, bare, Entities{Title: r.title(rest)}}}
	}
	return out
}

// followUpLong reads a follow-up that begins with a phrase of its own: "do the same with the last".
func (r *reader) followUpLong(f front) []Result {
	if r.at(f.lo, f.hi, fToo) < 2 {
		return nil
	}
	return r.followUp(f.span)
}

// saysDone says that a part that begins with a verb ends as a statement: "pay the rent is done", "pay the rent: done", "Miete zahlen erledigt", not
// "check if the rent is paid".
func (r *reader) saysDone(s span) bool {
	s = r.trimEnd(s, tEnding, fFiller, tAlready)
	n := r.before(s.lo, s.hi, tDone)
	if n == 0 {
		return false
	}
	subject := r.trimEnd(span{s.lo, s.hi - n}, tAlready, fFiller)
	apart := r.before(subject.lo, subject.hi, tLink) > 0 || r.setsApart(s.hi-n-1) || r.endsErrand(subject)
	return apart && r.at(s.lo, s.hi, fClausal) == 0 && r.has(s, fIf, fAsking, rNot) < 0
}

// mostInsisting bounds the words and signs of a yes said in advance.
const mostInsisting = 16

// withoutInsisting takes a yes said in advance from the end of a sentence: "remove 2, yes really".
func (r *reader) withoutInsisting(s span) span {
	if r.sign(s.hi-1, "?") {
		return s
	}
	for i := max(s.lo+1, s.hi-mostInsisting); i < s.hi; i++ {
		if r.tokens[i].quoted || r.sign(i, ":") {
			continue
		}
		apart := r.sign(i, ",", "-", ".", "!") && !r.tokens[i].glued || r.sign(i, ",", ".", "!")
		n := r.at(i, s.hi, rAnd)
		if apart {
			n = 1
		} else if n == 0 && r.at(i, s.hi, yInsist, yStrong) == 0 {
			continue
		}
		tail := r.trimStart(span{i + n, s.hi}, fFiller)
		if !r.insists(tail) || r.verbatim(r.front(span{s.lo, i}).span) {
			continue
		}
		left := r.front(span{s.lo, i})
		out := r.command(left.span)
		if out == nil || !apart && n == 0 && (out[0].Intent == Create || !byPosition(out[0])) {
			continue
		}
		return span{s.lo, i}
	}
	return s
}

// byPosition says that a command names its tasks without a title, so that nothing of one can follow.
func byPosition(c Result) bool {
	return c.Entities.Reference != nil && c.Entities.Reference.Title == ""
}

// insists says that a part is nothing but a yes, or insisting.
func (r *reader) insists(s span) bool {
	found := false
	for i := s.lo; i < s.hi; {
		n := 1
		switch {
		case r.sign(i, ",", ".", "!", "-"):
		case r.at(i, s.hi, yStrong, yInsist) > 0 && r.at(i, s.hi, yStrong, yInsist) >= r.at(i, s.hi, yNo, yCancel, yMaybe, rNot):
			n = r.at(i, s.hi, yStrong, yInsist)
			found = true
		case r.at(i, s.hi, yNo, yCancel, yMaybe, rNot) > 0:
			return false
		case found && r.total(span{i, s.hi}) > 0:
			n = r.total(span{i, s.hi})
		case r.at(i, s.hi, yThat, fFiller, fMe, tEnding, rIt, rAnd, fAsk) > 0:
			n = r.at(i, s.hi, yThat, fFiller, fMe, tEnding, rIt, rAnd, fAsk)
		case r.tokens[i].kind == emoji:
		default:
			return false
		}
		i += n
	}
	return found
}
