package understand

// toList reads what is to stand on the list, said without a command: "on the list: milk", "auf die Liste kommt noch Milch", "leite na lista".
func (r *reader) toList(s span) []Result {
	s = r.trim(s, fFiller, tEnding)
	rest := s
	if n := r.listPhrase(s.lo, s.hi, tOnto); n > 0 {
		rest.lo += n
	} else if at, from := r.destination(s); at > s.lo && !from && r.at(at, s.hi, tOnto) > 0 {
		rest.hi = at
	} else {
		return nil
	}
	if r.has(s, fAsking, fIf) == s.lo {
		return nil
	}
	rest = r.trim(rest, tGoes, fFiller, fMe)
	if rest.empty() || r.unsayable(rest) && !r.isQuoted(rest) || r.at(rest.lo, rest.hi, fBe, fPerfect) > 0 {
		return nil
	}
	title, _, list := r.afterNoun(rest)
	return r.added(title, list, likely, "something for the list")
}

// newTask reads "a new task: X", "a task called X", where no verb says that it is to be made.
func (r *reader) newTask(s span) []Result {
	if r.at(r.skip(s.lo, s.hi, rArticle), s.hi, tDesc) > 0 { // "a note to task 2: X"
		out := r.describe(s, false)
		if out != nil && out[0].Entities.HasDescription && out[0].Entities.Reference.Title == "" {
			return out
		}
	}
	i := r.skip(s.lo, s.hi, fFiller)
	if r.at(i, s.hi, rIndefinite, rNew, rNumber) == 0 {
		return nil
	}
	title, found, list := r.afterNoun(span{i, s.hi})
	noun := r.skip(i, s.hi, rIndefinite, rNew, rNumber)
	if r.at(noun, s.hi, rTask) > 0 && noun+r.at(noun, s.hi, rTask) == r.trimEnd(s, tEnding, fFiller).hi && r.has(span{i, noun}, rNew) >= 0 && r.at(i, noun, rIndefinite) > 0 {
		return one(Create, clear-0.02, Entities{}, "a new task without a title")
	}
	if !found || title.empty() || title.lo == noun+r.at(noun, s.hi, rTask, rTasks) && !r.isQuoted(title) {
		return nil
	}
	return r.added(title, list, clear-0.02, "a new task")
}

// ticked reads "put a tick at 2", "mach einen Haken bei der zweiten", "nimm den Haken bei 2 weg". nil: there is no tick.
func (r *reader) ticked(s span) []Result {
	s = r.trim(s, fFiller, tEnding)
	at := r.has(s, tTick)
	if at < 0 || r.tokens[at].quoted {
		return nil
	}
	away := false
	body := s
	for _, h := range r.heads(s) {
		if h.class == vCreate || h.class == vErrandNoun {
			continue
		}
		away = away || h.class == vDelete || h.class == vDeleteWeak
		if body == s || h.object.hi < body.hi {
			body = h.object
		}
	}
	if body == s && r.endsErrand(s) {
		body.hi--
	}
	before := at
	if n := r.before(body.lo, at, rIndefinite, rArticle); n > 0 {
		before -= n
	}
	if body == s || at >= body.hi || before < body.lo {
		return nil
	}
	for _, part := range []span{{body.lo, before}, {at + r.at(at, body.hi, tTick), body.hi}} {
		part = r.trim(part, fFiller, tTo, tFrom, rAbout, tInto, rBeside)
		ref, end := r.exact(part)
		if ref == nil || end != part.hi {
			continue
		}
		ref.Words = r.raw(part)
		if away {
			return r.opened(ref)
		}
		return r.changed(Complete, part, ref, false)
	}
	return nil
}

// calledState reads "task 2 should be called X", "die zweite heißt jetzt X": a task by its position and its new title.
func (r *reader) calledState(s span) []Result {
	ref, end := r.exact(s)
	if ref == nil || r.context.Open != nil && ref.It {
		return nil
	}
	end = r.skip(end, s.hi, fFiller)
	n := r.at(end, s.hi, tCalled)
	value := r.value(span{r.skip(end+n, s.hi, fFiller), s.hi})
	if n == 0 || value.empty() {
		return nil
	}
	ref.Words = r.raw(span{s.lo, end})
	e := Entities{Title: r.title(value), Reference: &ref.Reference}
	return one(Update, min(likely, r.trust(ref)), e, "a task and what it is to be called")
}
