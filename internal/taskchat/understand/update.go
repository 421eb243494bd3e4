package understand

import "slices"

// update reads "rename X to Y", "set the description of X to Y", "update X", "change X to done".
func (r *reader) update(s span, h head) []Result {
	object := r.trimStart(r.trim(h.object, fMe), fFiller)
	if object.empty() {
		if h.class == vUpdateWeak {
			return nil
		}
		return one(Update, clear-0.02, Entities{}, "a verb alone")
	}
	if r.at(object.lo, object.hi, rNone) == object.hi-object.lo {
		return r.refuse()
	}
	if out := r.describe(object, false); out != nil {
		return out
	}
	if ref, end := r.exact(object); h.value == outOf && ref != nil && end < object.hi {
		ref.Words = r.raw(span{object.lo, end})
		e := Entities{Title: r.title(r.value(span{end, object.hi})), Reference: &ref.Reference}
		return one(Update, min(clear, r.trust(ref)), e, "a command, a task and its new title")
	}
	if out := r.intoState(object); out != nil {
		return out
	}
	if out := r.retitleSpoken(object); out != nil {
		return out
	}
	if out := r.exchanged(object); out != nil {
		return out
	}
	if out := r.retitle(object, h); out != nil {
		return out
	}
	ref := r.reference(r.named(object))
	if ref == nil {
		return nil
	}
	if ref.several {
		return one(Update, clear, Entities{}, "a command without a task")
	}
	e := Entities{Reference: &ref.Reference}
	if ref.explicit && (h.class != vUpdateWeak || !ref.It) {
		return one(Update, min(clear, r.trust(ref)), e, "a command and a task, without a new value")
	}
	if h.class == vUpdateWeak && ref.It {
		return nil
	}
	if r.isErrand(s) {
		return nil
	}
	out := one(Update, weak, e, "a verb that may also belong to a new task")
	out[0].Alternatives = []Alternative{{Create, weak - 0.05, Entities{Title: r.title(s)}}}
	return out
}

// mostCuts bounds in how many ways a command is cut into a task and its new title.
const mostCuts = 8

// retitle reads a reference and a new title with a word between: "task 2 to buy milk".
func (r *reader) retitle(object span, h head) []Result {
	if end := r.possessed(object, tTitle); end > 0 && end < object.hi { // "its title X", with or without a word between
		ref, value := r.it(object.lo, end), r.value(span{end + r.valueAt(end, object.hi), object.hi})
		if !value.empty() {
			return one(Update, min(clear, r.trust(ref)), Entities{Title: r.title(value), Reference: &ref.Reference}, "a command, and the new title of a task")
		}
	}
	if first, more := r.retitledAgain(object); more != nil {
		if out := r.retitle(first, h); out != nil {
			return append(out, more...)
		}
	}
	cuts := r.cutsOf(object)
	if len(cuts) == 0 {
		return nil
	}
	// Of several ways to cut, the most even one: titles that are changed keep most of their words.
	best := 0
	uneven := func(c cut) int { return abs(len(splitWords(c.ref.Title)) - r.words(c.value)) }
	for i, c := range cuts {
		if uneven(c) < uneven(cuts[best]) {
			best = i
		}
	}
	if h.class != vRename && r.has(object, tTitle) < 0 {
		if i := slices.IndexFunc(cuts, func(c cut) bool { return r.isWhen(c.value) }); i >= 0 {
			return r.moved(cuts[i].ref, cuts[i].value)
		}
	}
	confidence := min(clear, r.trust(cuts[best].ref))
	switch {
	case len(cuts) > 1:
		confidence = asked
	case h.class == vUpdateWeak && h.value == changes && !cuts[best].ref.explicit:
		confidence = min(confidence, likely)
	case h.class == vUpdateWeak && !cuts[best].ref.explicit:
		confidence = asked + 0.03
	}
	entities := func(c cut) Entities { return Entities{Title: r.title(c.value), Reference: &c.ref.Reference} }
	out := one(Update, confidence, entities(cuts[best]), "a command, a task and its new title")
	for i, c := range cuts {
		if i != best {
			out[0].Alternatives = append(out[0].Alternatives, Alternative{Update, weak, entities(c)})
		}
	}
	return out
}

// isWhen says that a new value is nothing but a day or time, which is seldom a title: "Friday", "tomorrow at 5".
func (r *reader) isWhen(s span) bool {
	if s.hi-s.lo > mostWhen {
		return false
	}
	for i := s.lo; i < s.hi; i++ {
		if r.tokens[i].quoted {
			return false
		}
	}
	return !s.empty() && SaysWhen(r.raw(s))
}

// mostWhen bounds the words and signs of a day or time.
const mostWhen = 12

// moved is a task that gets another day or time.
func (r *reader) moved(ref *named, to span) []Result {
	return one(Update, min(clear, r.trust(ref)), Entities{When: r.raw(to), Reference: &ref.Reference}, "a task is to get another day or time")
}

// anotherDay is the reasoning of what moves a task in time, without a word on when.
const anotherDay = "a task is to get another day, in words that say none"

// cut is one way to read a task and its new title.
type cut struct {
	ref   *named
	value span
}

// cutsOf lists the ways to cut a part into a task and its new title: only one where the task is named by position.
func (r *reader) cutsOf(object span) (cuts []cut) {
	for i := object.lo + 1; i < object.hi; i++ {
		n := r.at(i, object.hi, tInto)
		if n == 0 && r.sign(i, "->", ":", "=") {
			n = 1
		}
		if n == 0 && i+2 < object.hi && r.before(object.lo, i, tInto) == 0 && r.isQuoted(span{i, r.trimEnd(object, tEnding).hi}) {
			n = -1 // a quoted value needs no word before it
		}
		if n == 0 || r.tokens[i].quoted && n > 0 || r.aboutAt(i, object.hi) && r.isNoun(span{object.lo, i}) {
			continue
		}
		value := r.value(span{i + max(n, 0), object.hi})
		ref := r.reference(r.named(span{object.lo, i}))
		if value.empty() || ref == nil || ref.several || ref.It && r.at(i, object.hi, tWith) > 0 { // "the task with the invoice"
			continue
		}
		if ref.explicit && ref.Title == "" {
			return []cut{{ref, value}}
		}
		if cuts = append(cuts, cut{ref, value}); len(cuts) == mostCuts {
			break
		}
		i += max(n, 1) - 1
	}
	return cuts
}

// retitledAgain finds a second position and title behind the first: "1 to X and 2 to Y".
func (r *reader) retitledAgain(object span) (first span, more []Result) {
	for i := object.lo + 1; i < object.hi; i++ {
		n := r.joint(i, object.hi, false)
		if n == 0 {
			continue
		}
		rest := r.trimStart(span{i + n, object.hi}, rAnd, tThen)
		ref, end := r.exact(rest)
		if ref != nil && ref.Positions != nil && r.at(end, object.hi, tInto) > 0 && r.has(span{object.lo, i}, tInto) > object.lo {
			return span{object.lo, i}, r.retitle(rest, head{class: vRename, object: rest})
		}
	}
	return object, nil
}

func abs(n int) int { return max(n, -n) }

// value trims a new value of a sign before it.
func (r *reader) value(s span) span { return r.trimEnd(r.trimStart(s), tEnding) }

// named takes "the title of" from a reference, and "'s title" behind it.
func (r *reader) named(s span) span {
	if n := r.at(s.lo, s.hi, rIts); n > 0 && r.at(r.skip(s.lo+n, s.hi, rNew), s.hi, tTitle) > 0 && r.before(s.lo, s.hi, tTitle) > 0 { // "its title"
		return span{s.lo, s.lo + n}
	}
	if n := r.before(s.lo, s.hi, rIts); n > 0 && r.before(s.lo, s.hi-n, tTitle) > 0 { // "o nome dela"
		return span{s.hi - n, s.hi}
	}
	i := r.skip(s.lo, s.hi, rArticle)
	if n := r.at(i, s.hi, tTitle); n > 0 {
		if k := r.at(i+n, s.hi, rOf, rAbout); k > 0 || r.at(i+n, s.hi, rArticle) > 0 {
			return span{i + n + k, s.hi}
		}
	}
	if n := r.before(s.lo, s.hi, tTitle); n > 0 && s.hi-n > s.lo {
		return r.trimPossessive(span{s.lo, s.hi - n})
	}
	return s
}

// trimPossessive takes "'s" from the end.
func (r *reader) trimPossessive(s span) span {
	if s.hi-1 > s.lo && r.tokens[s.hi-1].norm == "'s" {
		return span{s.lo, s.hi - 1}
	}
	return s
}

// intoState reads "task 2 to done" behind a verb that changes.
func (r *reader) intoState(object span) []Result {
	status := object
	i := r.skip(object.lo, object.hi, rArticle)
	if n := r.at(i, object.hi, tStatus); n > 0 {
		status.lo = i + n + r.at(i+n, object.hi, rOf, rAbout)
	}
	return r.mark(status)
}

// mark reads a reference and a state: "2 as done", "the second one as not done". nil: there is no state.
func (r *reader) mark(object span) []Result {
	object = r.trimEnd(r.trim(object, fMe), fFiller, tEnding)
	if out := r.markExcept(object); out != nil {
		return out
	}
	return r.state(object)
}

// markExcept reads "everything as done except the last", where what is excepted follows the state.
func (r *reader) markExcept(object span) []Result {
	for i := max(object.lo+2, object.hi-mostExcepted); i < object.hi; i++ {
		n := r.at(i, object.hi, rExcept)
		if n == 0 || r.tokens[i].quoted || r.before(object.lo, r.trimEnd(span{object.lo, i}).hi, tDone, tUndone) == 0 {
			continue
		}
		out, except := r.state(r.trimEnd(span{object.lo, i})), r.reference(span{i + n, object.hi})
		if len(out) != 1 || except == nil || except.several {
			continue
		}
		if ref := out[0].Entities.Reference; ref != nil && ref.All && ref.Except == nil {
			ref.Words, ref.Except = r.raw(object), &except.Reference
			return out
		}
	}
	return nil
}

// mostExcepted bounds the words and signs of what is excepted behind a state.
const mostExcepted = 16

// state reads a reference and the state behind or before it.
func (r *reader) state(object span) []Result {
	if out := r.stateFirst(object); out != nil {
		return out
	}
	for _, c := range []class{tUndone, tDone} {
		n := r.before(object.lo, object.hi, c)
		if n == 0 || object.hi-n <= object.lo {
			continue
		}
		rest := span{object.lo, object.hi - n}
		not := false
		for k := 1; k > 0; rest.hi -= k {
			if k = r.before(rest.lo, rest.hi, rNot); k > 0 {
				not = true
				continue
			}
			k = r.before(rest.lo, rest.hi, tAs, fFiller)
		}
		if k := r.before(rest.lo, rest.hi, tStatus); k > 0 {
			rest = r.trimPossessive(span{rest.lo, rest.hi - k})
		}
		return r.marked(rest, c == tUndone || not)
	}
	if k := r.before(object.lo, object.hi-1, tAs); k > 0 && r.isParticiple(object.hi-1) { // "the bread as bought"
		out := r.marked(span{object.lo, object.hi - 1 - k}, false)
		doubt(out, implied)
		return out
	}
	return nil
}

// stateFirst reads "as done: task 2", "done task 2".
func (r *reader) stateFirst(object span) []Result {
	i := r.skip(object.lo, object.hi, tAs)
	for _, c := range []class{tUndone, tDone} {
		if n := r.at(i, object.hi, c); n > 0 && i+n < object.hi && (i > object.lo || r.sign(i+n, ":")) {
			return r.marked(r.trimStart(span{i + n, object.hi}), c == tUndone)
		}
	}
	return nil
}

func (r *reader) marked(rest span, open bool) []Result {
	rest = r.trim(rest, fFiller)
	ref := r.reference(rest)
	if rest.empty() && r.context.Spoken { // "mark as done"
		ref = &named{Reference: Reference{It: true}, explicit: true}
	}
	if ref == nil {
		return nil
	}
	if open {
		return r.opened(ref)
	}
	out := r.changed(Complete, rest, ref, false)
	out[0].Alternatives = nil
	return out
}

// opened is an Update that opens a task again.
func (r *reader) opened(ref *named) []Result {
	e := Entities{Status: "pending", Reference: &ref.Reference}
	if ref.several {
		e.Reference = nil
	}
	return one(Update, min(clear, r.trust(ref)), e, "a command that opens a task again")
}

func (r *reader) reopen(object span) []Result {
	object = r.trim(object, fMe, fFiller)
	if object.empty() {
		return one(Update, clear-0.02, Entities{Status: "pending"}, "a verb alone")
	}
	if ref := r.reference(object); ref != nil {
		return r.opened(ref)
	}
	return nil
}

// move reads "task 2 to Friday": a change of a title that has no clear value.
func (r *reader) move(s, object span) []Result {
	for i := object.lo + 1; i < object.hi; i++ {
		to := r.towards(span{i, object.hi})
		if !r.isWhen(to) {
			continue
		}
		if ref := r.reference(span{object.lo, i}); ref != nil && !ref.several {
			return r.moved(ref, to)
		}
	}
	if to := r.towards(object); r.context.Spoken && r.isWhen(to) { // "passa pra sexta"
		return r.moved(r.it(object.lo, object.lo+1), to)
	}
	for i := object.lo + 1; i <= object.hi; i++ {
		if i < object.hi && r.at(i, object.hi, tTo, tInto, rOf) == 0 {
			continue
		}
		ref := r.reference(span{object.lo, i})
		if ref == nil || ref.several {
			continue
		}
		e := Entities{Reference: &ref.Reference}
		out := one(Update, asked-0.05, e, anotherDay)
		if ref.explicit && i == object.hi { // to which day is asked
			out[0].Confidence = min(clear, r.trust(ref))
		}
		if !ref.explicit && i == object.hi && r.isErrand(s) {
			return nil
		}
		if !ref.explicit {
			out[0].Confidence = weak - 0.05
			out[0].Alternatives = []Alternative{{Create, weak - 0.05, Entities{Title: r.title(s)}}}
		}
		return out
	}
	if n, end := r.exact(object); n != nil && end > object.lo {
		return one(Update, asked-0.05, Entities{Reference: &n.Reference}, anotherDay)
	}
	return nil
}

// it is the reference of a possessive.
func (r *reader) it(lo, hi int) *named {
	return &named{Reference: Reference{Words: r.raw(span{lo, hi}), It: true}, explicit: true}
}

// possessed is where "its title", "o nome dela" ends, with a noun of a class, at the beginning of a part; 0: it is something else.
func (r *reader) possessed(s span, noun class) int {
	n := r.at(s.lo, s.hi, rIts)
	i := r.skip(s.lo+n, s.hi, rArticle, rNew)
	k := r.at(i, s.hi, noun)
	if k == 0 {
		return 0
	}
	if n > 0 {
		return i + k
	}
	if m := r.at(i+k, s.hi, rIts); m > 0 {
		return i + k + m
	}
	return 0
}

// aboutAt says that a token begins what a task is about, "with the invoice", where it could also begin a new value.
func (r *reader) aboutAt(i, hi int) bool {
	n := r.at(i, hi, rAbout)
	return n > 0 && r.at(i+n, hi, rArticle) > 0
}

// isNoun says that a part is nothing but "the task" or "the one".
func (r *reader) isNoun(s span) bool {
	i := r.skip(s.lo, s.hi, rArticle)
	n := r.at(i, s.hi, rTask, rOne)
	if k := r.at(s.lo, s.hi, rIt); i == s.lo && k > n { // "the one"
		n = k
	}
	return n > 0 && i+n == s.hi || r.at(s.lo, s.hi, rIt) == s.hi-s.lo && r.before(s.lo, s.hi, rOne) > 0
}

// retitleSpoken reads "the title to X", which says of no task: that of which was spoken is meant, but asked about.
func (r *reader) retitleSpoken(object span) []Result {
	i := r.skip(object.lo, object.hi, rArticle, rNew)
	if r.at(object.lo, object.hi, rIts) > 0 {
		return nil
	}
	for _, noun := range []class{tTitle, tDesc} {
		n := r.at(i, object.hi, noun)
		k := r.valueAt(i+n, object.hi)
		if n == 0 || k == 0 || i == object.lo {
			continue
		}
		ref, value := r.it(object.lo, i+n), r.value(span{i + n + k, object.hi})
		if value.empty() {
			return nil
		}
		if noun == tDesc {
			out := r.described(ref, value, false)
			doubt(out, asked)
			return out
		}
		return one(Update, asked, Entities{Title: r.title(value), Reference: &ref.Reference}, "a new title, and not said of which task")
	}
	return nil
}

// give reads "it the title X", "task 2 the description X". nil: something else is given.
func (r *reader) give(object span) []Result {
	ref, end := r.exact(object)
	if ref == nil {
		return nil
	}
	ref.Words = r.raw(span{object.lo, end})
	i := r.skip(end, object.hi, rArticle, rIndefinite, rNew)
	if n := r.at(i, object.hi, tDesc); n > 0 {
		return r.described(ref, span{i + n + r.valueAt(i+n, object.hi), object.hi}, false)
	}
	n := r.at(i, object.hi, tTitle)
	value := r.value(span{i + n + r.valueAt(i+n, object.hi), object.hi})
	if n == 0 || value.empty() {
		return nil
	}
	return one(Update, min(clear, r.trust(ref)), Entities{Title: r.title(value), Reference: &ref.Reference}, "a command, a task and its new title")
}

// shouldBe reads "its title should be X". nil: it is something else.
func (r *reader) shouldBe(s span) []Result {
	for _, noun := range []class{tTitle, tDesc} {
		end := r.possessed(s, noun)
		n := r.at(end, s.hi, tShould)
		if end == 0 || n == 0 || end+n == s.hi {
			continue
		}
		ref, value := r.it(s.lo, end), span{end + n, s.hi}
		if noun == tDesc {
			return r.described(ref, value, false)
		}
		return one(Update, min(clear, r.trust(ref)), Entities{Title: r.title(r.value(value)), Reference: &ref.Reference}, "what a title is to be")
	}
	ref, end := r.exact(s) // "the second one should say X"
	n := r.at(end, s.hi, tShould)
	if ref == nil || ref.Positions == nil || n == 0 {
		return nil
	}
	ref.Words = r.raw(span{s.lo, end})
	if value := r.trim(span{end + n, s.hi}, tInsteadOf, tEnding); !value.empty() && r.at(value.lo, value.hi, tDone, tUndone) == 0 {
		return one(Update, min(likely, r.trust(ref)), Entities{Title: r.title(value), Reference: &ref.Reference}, "what a title is to be")
	}
	return nil
}
