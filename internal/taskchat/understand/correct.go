package understand

// merge makes one wish of a statement and a command that points back at it: "the boiler is repaired, cross it off".
func (r *reader) merge(all []said) (out []said) {
	for _, c := range all {
		if n := len(out); n > 0 && out[n-1].guess && r.addsThat(c) { // "“Call Bob” – add that please"
			if title := r.trim(out[n-1].span, fFiller, tEnding); !title.empty() && !r.unsayable(title) {
				c.results = r.added(title, false, clear-0.02, "words, and a command to add them")
				out[n-1] = c
				continue
			}
		}
		if len(out) > 0 && pointsBack(c) {
			if ref := r.subject(out[len(out)-1]); ref != nil {
				x := &c.results[0]
				if x.Entities.Reference, x.Confidence = &ref.Reference, min(x.Confidence, r.trust(ref)); ref.Title != "" && x.Intent != Delete {
					x.Confidence = min(x.Confidence, likely)
				}
				out[len(out)-1] = c
				continue
			}
		}
		out = append(out, c)
	}
	return out
}

// addsThat says that a clause is a command to add "that".
func (r *reader) addsThat(c said) bool {
	return len(c.results) == 1 && !c.guess && c.results[0].Intent == Create && c.results[0].Entities.Title == "" && r.has(c.span, rIt) >= 0
}

// pointsBack says that a clause is one command for "it".
func pointsBack(c said) bool {
	if len(c.results) != 1 || c.guess {
		return false
	}
	x := c.results[0]
	changes := x.Intent == Complete || x.Intent == Delete || x.Intent == Update
	ref := x.Entities.Reference
	alone := ref == nil && x.Intent != Update && x.Reasoning == aVerbAlone // "…, delete"
	return changes && (ref != nil && ref.It || alone)
}

// subject is the task that a statement speaks of; nil: it names none, or is none.
func (r *reader) subject(c said) *named {
	if c.stated && len(c.results) == 1 {
		if ref := c.results[0].Entities.Reference; ref != nil && !ref.It {
			return &named{Reference: *ref}
		}
		return nil
	}
	if !c.guess || c.span.empty() || r.sign(c.span.hi-1, "?") {
		return nil
	}
	s, cut := c.span, false
	article := r.at(s.lo, s.hi, rArticle) > 0
	for i := s.lo + 1; i < s.hi && !cut; i++ {
		verb := r.at(i, s.hi, fBe, tLink, tGone, rNot) > 0 || article && i > s.lo+1 && r.pastAt(i, s.hi) > 0
		if !r.tokens[i].quoted && verb {
			s.hi, cut = i, true
		}
	}
	if r.at(s.lo, s.hi, fSubject, fTalk, fGreet, fThanks, fIf) > 0 && !article {
		return nil
	}
	ref := r.reference(s)
	if ref == nil || ref.several || ref.It || !cut && !ref.explicit && !article {
		return nil
	}
	return ref
}

// denies says that a clause is nothing but "no", "wait", "sorry" behind something else: what follows corrects that.
func (r *reader) denies(c said) bool {
	return !c.span.empty() && r.has(c.span, fAgain, yNo, yCancel) >= 0 && r.skipSigns(c.span, fAgain, yNo, yCancel, fFiller, fTalk) == c.span.hi
}

// takeBack applies a correction to what was said before it: another task or title, another command, or nothing of it. It is asked about.
func (r *reader) takeBack(all []said, c said) []said {
	last := &all[len(all)-1]
	if len(c.results) == 0 || len(last.results) == 0 {
		return all
	}
	now, was := c.results[len(c.results)-1], &last.results[len(last.results)-1]
	words := c.guess || now.Intent == Choose
	switch {
	case words && r.amend(was, last.span, c.span):
		was.Confidence, was.Reasoning = min(was.Confidence, asked), "a command that was corrected"
		return all
	case words:
		doubt(last.results, asked-0.05)
		return all
	case !acts(now):
		return []said{{results: one(Decline, clear, Entities{}, "taken back in the same message")}}
	}
	if ref := was.Entities.Reference; pointsBack(c) && ref != nil {
		c.results[0].Entities.Reference = ref
	}
	doubt(c.results, asked)
	return append(all[:len(all)-1], c)
}

// amend puts words in the place of what they correct: the title of a new task, a new title, or a reference.
func (r *reader) amend(was *Result, before, s span) bool {
	s = r.trim(s, fFiller, rOnly)
	into := r.at(s.lo, s.hi, tInto)
	ref := r.reference(s)
	position := ref != nil && ref.Title == ""
	switch {
	case s.empty(), r.unsayable(s):
	case was.Intent == Update && was.Entities.Title == "" && ref != nil && !position:
		out := r.retitle(s, head{class: vUpdate, object: s}) // "rename 1, no, 2 to X"
		if out != nil {
			was.Entities = out[0].Entities
		}
		return out != nil
	case was.Intent == Create && was.Entities.Title != "", was.Intent == Update && was.Entities.Title != "" && (into > 0 || !position):
		if was.Intent == Update {
			s.lo += into
		}
		was.Entities.Title = r.verbOfTitle(was.Entities.Title, before, s) + r.title(s)
		return was.Entities.Title != ""
	case was.Entities.Reference != nil && ref != nil && !ref.several:
		was.Entities.Reference, was.Entities.Status = &ref.Reference, ref.status
		return true
	}
	return false
}

// verbOfTitle is the verb, with a space, that a title begins with and its correction leaves out: "call Bob, I mean Rob".
func (r *reader) verbOfTitle(title string, before, correction span) string {
	if r.beginsErrand(correction) || r.endsErrand(correction) {
		return ""
	}
	for i := before.lo; i < before.hi; i++ {
		if n := r.at(i, before.hi, vErrand, vErrandNoun); n > 0 && r.beginsErrand(span{i, before.hi}) && r.title(span{i, before.hi}) == title {
			return r.raw(span{i, i + n}) + " "
		}
	}
	return ""
}

// meant reads what is said to have been meant by the message before: "oh, I meant the gutters". What was done then is not known here, so that
// nothing of it is sure. nil: no tasks are named.
func (r *reader) meant(s span) []Result {
	if r.previous == "" || r.context.Open != nil {
		return nil
	}
	s = r.withoutInstead(r.trim(s, fFiller, fAgain, fMeant, yNo, tEnding))
	ref := r.reference(s)
	if ref == nil || ref.several || r.unsayable(s) {
		return nil
	}
	e := Entities{Reference: &ref.Reference, Status: ref.status}
	intent := r.previous
	if intent == Create && ref.Title != "" {
		intent, e = Update, Entities{Title: r.title(s), Reference: &Reference{Words: r.raw(s), It: true}}
	}
	out := one(intent, 0.5, e, "another one than before was meant")
	out[0].Alternatives = []Alternative{{Chat, low, Entities{}}}
	return out
}

// meantWhen reads what is said to have been meant where that is a day or time: "sorry, I meant tomorrow night". nil: it is none.
func (r *reader) meantWhen(s span) []Result {
	if r.context.Open != nil || r.previous != Create && r.previous != Update {
		return nil
	}
	to := r.whenBehind(s)
	if to.empty() || r.has(span{s.lo, to.lo}, fAgain, fMeant) < 0 && r.withoutInstead(s).hi == r.trimEnd(s, tEnding).hi {
		return nil
	}
	return one(Update, likely, Entities{When: r.raw(to), Reference: &Reference{Words: r.raw(to), It: true}}, "another day or time than before was meant")
}

// withdrawn says that, with no comma, the words at a token take back the command before them: "finish 1 no wait 4".
func (r *reader) withdrawn(left span, i, hi int) bool {
	n := r.at(i, hi, fAgain, yNo)
	if n == 0 || r.verbAfter(i, n, hi) {
		return false
	}
	rest := r.trim(span{r.skip(i, hi, fAgain, yNo, fFiller), hi}, tEnding)
	ref, end := r.exact(rest)
	named := ref != nil && end == rest.hi
	long := r.at(i, hi, fAgain) > 1
	if !named && (!long || r.at(rest.lo, rest.hi, rArticle) == 0) {
		return false
	}
	out := r.command(r.front(left).span)
	return out != nil && out[len(out)-1].Intent != Create && (long || byPosition(out[len(out)-1]))
}

// mostContrasted is how many words and signs two tasks that are set against each other may have together.
const mostContrasted = 40

// contrasted reads "the milk, not the bread" and "not the milk but the bread": the one that is meant, never for sure.
func (t *text) contrasted(s span) *named {
	i := t.has(s, rNot, rInstead)
	if i < 0 || s.hi-s.lo > mostContrasted || t.isQuoted(s) {
		return nil
	}
	n := t.at(i, s.hi, rNot, rInstead)
	if i > s.lo {
		left := t.trimEnd(span{s.lo, i})
		meant, other := t.plain(left), t.plain(span{i + n, s.hi})
		if meant == nil || other == nil || (meant.Title == "") != (other.Title == "") || left.hi == i && meant.Title != "" && t.at(i, s.hi, rInstead) == 0 {
			return nil
		}
		meant.doubt = true
		return meant
	}
	for k := i + n + 1; k < s.hi; k++ {
		joint := 0
		if t.sign(k, ",") {
			joint = 1
		}
		joint += t.at(k+joint, s.hi, fAgain, rExcept)
		if joint == 0 {
			continue
		}
		if other, meant := t.plain(span{i + n, k}), t.plain(span{k + joint, s.hi}); other != nil && meant != nil {
			meant.doubt = true
			return meant
		}
	}
	return nil
}

// plain is a reference by position, or by words that an article or "task" shows to be one.
func (t *text) plain(s span) *named {
	s = t.trim(s, fFiller, tEnding)
	if s.empty() {
		return nil
	}
	if ref, end := t.exact(s); ref != nil && end == s.hi {
		ref.Words = t.raw(s)
		return ref
	}
	if t.has(s, rNot) >= 0 || t.at(s.lo, s.hi, rArticle) == 0 {
		return nil
	}
	ref := t.byTitle(s)
	if ref == nil || ref.several || ref.It {
		return nil
	}
	ref.Words = t.raw(s)
	return ref
}

// onlySome reads "but only the first" behind a yes. nil: it is something else.
func (r *reader) onlySome(s span) *Reference {
	s = r.trimEnd(span{r.skipSigns(s, fFiller, fAgain, rExcept, yMaybe, rOnly), s.hi}, fFiller, tEnding, rOnly)
	ref, end := r.exact(s)
	if ref == nil || end != s.hi || ref.Positions == nil || r.has(span{0, len(r.tokens)}, rOnly) < 0 {
		return nil
	}
	ref.Words = r.raw(s)
	return &ref.Reference
}
