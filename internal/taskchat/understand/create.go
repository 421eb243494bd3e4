package understand

// title is the text of a title, without what only frames it.
func (r *reader) title(s span) string { return r.raw(r.titleSpan(s)) }

func (r *reader) titleSpan(s span) span {
	s = r.trimEnd(r.trimStart(s), tEnding)
	return r.trimStart(r.unquoted(s))
}

// added is a Create of each task that a part names, with its description.
func (r *reader) added(s span, list bool, confidence float64, why string) []Result {
	s, description, has := r.cutDescription(s)
	parts := []span{s}
	if quoted := r.quotations(r.trim(s, tEnding)); quoted != nil {
		parts = quoted
	} else if !r.isQuoted(r.trim(s, tEnding)) {
		parts = r.titles(s, list)
	}
	if ref, end := r.exact(s); ref != nil && ref.It && end == s.hi {
		return one(Create, weak, Entities{}, "a command and a pronoun")
	}
	var out []Result
	for _, part := range parts {
		e := Entities{Title: r.title(part)}
		if e.Title != "" {
			out = append(out, Result{Intent: Create, Confidence: confidence, Entities: e, Reasoning: why})
		}
	}
	if out != nil && has {
		last := &out[len(out)-1].Entities
		last.Description, last.HasDescription = description, true
	}
	return out
}

// cutDescription takes ", with the description X" from a title.
func (r *reader) cutDescription(s span) (title span, description string, has bool) {
	for i := s.lo + 1; i < s.hi; i++ {
		if r.tokens[i].quoted {
			continue
		}
		j := i
		if r.sign(j, ":", ",", ";", "-", ".", "(", "\n") {
			j++
		}
		with := r.at(j, s.hi, tWith)
		k := r.skip(j+with, s.hi, rArticle, rIndefinite)
		n := r.at(k, s.hi, tDesc)
		if n == 0 || with == 0 && j == i {
			continue
		}
		end := k + n
		e, _ := r.entry(k, s.hi, tDesc)
		says := e.value == 1 && r.sign(i, ",") && end < s.hi && r.tokens[end].kind == word && r.joint(end, s.hi, false) == 0 && r.at(end, s.hi, tTo, rOf, fBe) == 0
		if colon := r.sign(end, ":"); colon || with > 0 || says || r.sign(i, ":", "(") {
			if colon {
				end++
			}
			end += r.at(end, s.hi, tSaying)
			value := r.trimStart(span{end, s.hi})
			if r.sign(value.hi-1, ")") && r.sign(i, "(") {
				value.hi--
			}
			if value.empty() {
				continue
			}
			return span{s.lo, i}, r.raw(r.unquoted(r.trimEnd(value, tEnding))), true
		}
	}
	return s, "", false
}

// titles cuts a part into several titles: a list where it is one, or clauses that each begin (or end) with a verb and say what of.
func (r *reader) titles(s span, list bool) (out []span) {
	from := s.lo
	for i := s.lo; i < s.hi; i++ {
		if r.tokens[i].quoted && !list {
			continue
		}
		n := r.joint(i, s.hi, list)
		if n == 0 || i == from {
			continue
		}
		next := i + n
		for k := r.joint(next, s.hi, list); k > 0; k = r.joint(next, s.hi, list) {
			next += k
		}
		left, right := span{from, i}, r.upToJoint(next, s.hi)
		apart := list || r.sign(i, ";") && !r.verbatimSince(0, i)
		if apart && next < s.hi || r.isClause(left, right) {
			out = append(out, r.withoutTo(left))
			from, i = next, next-1
		}
	}
	return append(out, r.withoutTo(span{from, s.hi}))
}

// withoutTo takes a repeated "to" from the beginning of a title: "to buy milk and to call".
func (r *reader) withoutTo(s span) span {
	s = r.trimStart(s, rAnd)
	if n := r.at(s.lo, s.hi, tInfTo); n > 0 && r.beginsErrand(span{s.lo + n, s.hi}) {
		s.lo += n
	}
	return s
}

// joint is the length of what may stand between two titles.
func (r *reader) joint(i, hi int, list bool) int {
	if i >= hi || r.tokens[i].quoted {
		return 0
	}
	if r.sign(i, ",", ";", "\n") || list && r.sign(i, "-") && !r.tokens[i].glued || list && r.tokens[i].kind == emoji {
		return 1
	}
	if n := r.at(i, hi, rAnd, tThen); n > 0 {
		return n
	}
	return 0
}

func (r *reader) upToJoint(i, hi int) span {
	for j := i; j < hi; j++ {
		if j > i && r.joint(j, hi, false) > 0 {
			return span{i, j}
		}
	}
	return span{i, hi}
}

// isClause says that both sides of a joint are things to do by themselves. After an ordinary title the right side must be one for sure.
func (r *reader) isClause(left, right span) bool {
	right = r.withoutTo(right)
	if r.isQuoted(r.trim(left)) && r.isQuoted(r.trim(right, tEnding)) {
		return true
	}
	if !r.beginsErrand(right) && !r.endsErrand(right) || r.anaphoric(right) {
		return false
	}
	left = r.withoutTo(left)
	if r.beginsErrand(left) || r.endsErrand(left) {
		return true
	}
	_, n := r.verb(left.lo, left.hi)
	return r.beginsErrand(right) && (n == 0 || r.words(left) > 1)
}

// beginsErrand says that a part begins with a verb of errands and what it is done to.
func (r *reader) beginsErrand(s span) bool {
	if s.empty() || r.tokens[s.lo].quoted {
		return false
	}
	for _, e := range r.found[s.lo] {
		end := s.lo + 1 + len(e.rest)
		if end >= s.hi {
			continue
		}
		switch e.class {
		case vErrand, vComplete, vCompleteWeak, vDelete, vDeleteWeak, vUpdate, vUpdateWeak:
			return true
		case vErrandNoun:
			return r.at(end, s.hi, rArticle, rIndefinite, fMe, fSubject, rNumber, tTo) > 0 || r.tokens[end].kind == number || r.capital(end) ||
				!r.lex.known(r.tokens[end].norm) && s.hi-end == 1 && e.value == 0 && r.tokens[end].kind == word
		}
	}
	return !r.lex.last && r.tokens[s.lo].kind == word && s.hi-s.lo > 1 && r.lex.infinitive(r.tokens[s.lo], r.cased()) && r.at(s.lo, s.hi, tNoInf) == 0
}

// endsErrand says that a part is something and then an infinitive, in languages that put it there.
func (r *reader) endsErrand(s span) bool {
	s = r.trimEnd(s, tEnding)
	return r.lex.last && s.hi-s.lo > 1 && r.isInfinitive(s.hi-1)
}

func (r *reader) isInfinitive(i int) bool {
	t := r.tokens[i]
	if t.kind != word || t.quoted || r.at(i, i+1, tNoInf, fFiller, rNumber, rOrdinal, rArticle, tUndone, tDone) > 0 {
		return false
	}
	if r.cased() && r.capital(i) || r.at(i, i+1, tPast) > 0 {
		return false
	}
	return r.lex.infinitive(t, r.cased())
}

// anaphoric says that a part speaks of what stands before it: "and bring it along".
func (r *reader) anaphoric(s span) bool {
	for i := s.lo + 1; i < s.hi; i++ {
		if r.at(i, i+1, tBack) > 0 {
			return true
		}
	}
	return false
}

// create reads "add X", "add a task to X", "new task: X".
func (r *reader) create(s span, h head) []Result {
	colon := r.sign(h.object.lo, ":", "-", "->")
	object := r.trimStart(r.trim(h.object, fMe), fFiller)
	if out := r.addedTo(object); out != nil {
		return out
	}
	if out := r.listedBehind(object); out != nil {
		return out
	}
	if out := r.listedBetween(object); out != nil {
		return out
	}
	object, _ = r.withoutList(object)
	object = r.trim(object, fMe)
	title, frame, list := r.afterNoun(object)
	list = list || colon && r.hasLines(object)
	title = r.trimEnd(title, tEnding)
	if n := r.at(title.lo, title.hi, rAbout); n > 0 && n < title.hi-title.lo && !frame && r.before(s.lo, title.lo, rTask) > 0 { // "set a reminder for X"
		title = r.trimStart(span{title.lo + n, title.hi})
	}
	if r.skip(title.lo, title.hi, rIndefinite, rNew, fFiller) >= title.hi {
		return one(Create, clear, Entities{}, "a command without a title")
	}
	if !list {
		title = r.withoutModal(title)
		if e, n := r.verb(title.lo, title.hi); n > 0 && (e.class == vRemind || e.class == vNeed) { // "add: remind me to X"
			title.lo += n
		}
	}
	confidence := clear
	if h.value == makes && !frame && !r.beginsErrand(title) {
		if r.at(title.lo, title.hi, rIndefinite) > 0 {
			return one(Create, implied, Entities{Title: r.title(s)}, "something to be made")
		}
		confidence = implied
	}
	if !r.beginsErrand(title) {
		if e, n := r.entry(title.lo, title.hi, rIndefinite); n > 0 && e.value == 0 && title.lo+n < title.hi {
			title.lo += n
		}
	}
	return r.added(title, list, confidence, "a command and a title")
}

// Values of verbs.
const (
	noun     = 1 // of needs: what follows may be a thing, not something to do
	open     = 1 // of reminders: "to" may still follow, behind a time
	changes  = 1 // "change": what follows "to" may be a day
	makes    = 1 // "create": what follows may be a thing to be made
	outOf    = 2 // "mach aus": what follows a task is its new title
	crosses  = 1 // "cross X off my list": what it takes off is done
	nounVerb = 2 // "task": a noun that begins a title with a colon
)

// withoutList takes "to my list" from the beginning or the end.
func (r *reader) withoutList(s span) (rest span, found bool) {
	if n := r.listPhrase(s.lo, s.hi, tTo); n > 0 {
		return r.trimStart(span{s.lo + n, s.hi}), true
	}
	if n := r.listPhrase(s.lo, s.hi, rArticle); n > 0 && s.lo+n < s.hi && r.at(s.lo+n, s.hi, rOf, rAbout) == 0 { // "füge der Liste Brot hinzu"
		return span{s.lo + n, s.hi}, true
	}
	s = r.trimEnd(s, tEnding, fFiller)
	if at, from := r.destination(s); at > s.lo && !from {
		return span{s.lo, at}, true
	}
	return s, false
}

// listedBehind reads titles behind a colon before which only the list is named: "these to my list: X, Y".
func (r *reader) listedBehind(s span) []Result {
	i, list, several := s.lo, false, false
	for ; i < s.hi && !r.sign(i, ":"); i++ {
		n := r.listPhrase(i, s.hi, tTo)
		list = list || n > 0
		if n == 0 {
			several = several || r.at(i, s.hi, rThese, rTasks) > 0
			n = r.at(i, s.hi, rThese, rTasks, rTask, rArticle, rIndefinite, rNew, fMe, fFiller)
		}
		if n == 0 && r.tokens[i].kind != number {
			return nil
		}
		i += max(n, 1) - 1
	}
	titles := r.trim(span{i + 1, s.hi}, fFiller)
	if !list || titles.empty() {
		return nil
	}
	for k := titles.lo; k < titles.hi; k++ {
		several = several || !r.tokens[k].quoted && r.sign(k, ",", ";", "\n")
	}
	return r.added(titles, several, clear, "a command and titles for the list")
}

// listedBetween reads "milk to my list for Friday", where a time follows the list.
func (r *reader) listedBetween(s span) []Result {
	for i := s.lo + 1; i < s.hi; i++ {
		n := r.listPhrase(i, s.hi, tTo)
		rest := r.trim(span{i + n, s.hi}, tEnding, fFiller)
		if n == 0 || r.tokens[i].quoted || rest.empty() || rest.lo != i+n || r.words(rest) > 4 {
			continue
		}
		if r.at(rest.lo, rest.hi, rAnd, tThen) > 0 || r.at(rest.lo, rest.hi, tWith, rAbout) > 0 && r.at(rest.lo, rest.hi, tTime) == 0 {
			continue
		}
		out := r.added(span{s.lo, i}, false, clear, "a command and a title")
		if out != nil {
			out[len(out)-1].Entities.Title += " " + r.raw(rest)
		}
		return out
	}
	return nil
}

// afterNoun takes "a new task to" from the beginning of a title, and "as a task" from its end. list says that several titles follow.
func (r *reader) afterNoun(s span) (title span, found, list bool) {
	if i := r.as(s); i > s.lo {
		return span{s.lo, i}, true, false
	}
	i := r.skip(s.lo, s.hi, rArticle, rIndefinite, rNew, rNumber, rListKind, fFiller)
	if i > s.lo && r.at(i, s.hi, rTask, rTasks, tDesc) == 0 {
		i = r.skip(s.lo, s.hi, rArticle, rIndefinite, rNew, rNumber, fFiller)
	}
	if i == s.lo && i < s.hi && r.tokens[i].kind == number && r.at(i+1, s.hi, rTasks) > 0 {
		i++
	}
	n := r.at(i, s.hi, rTasks)
	list = n > 0
	if !list {
		n = r.at(i, s.hi, rTask)
	}
	n += r.at(i+n, s.hi, rTasks) // "the following tasks"
	next := i + n
	colon := false
	for k := 1; k > 0; next += k {
		k = 0
		if r.sign(next, ":", "-", ",", "->", "\n") && (next == s.lo || !r.tokens[next].glued || !r.sign(next, "-")) {
			colon = colon || r.sign(next, ":", "-", "->")
			k = 1
		} else if n > 0 && !colon {
			k = r.at(next, s.hi, rAbout, tInfTo, fMe)
		}
	}
	switch {
	case n == 0 && r.sign(i, ":") && i > s.lo: // "add these: X, Y"
		return span{next, s.hi}, true, true
	case n > 0 && next < s.hi && next == i+n && (r.beginsErrand(span{next, s.hi}) || r.endsErrand(span{next, s.hi}) || r.isQuoted(span{next, s.hi})):
		return span{next, s.hi}, true, false
	case n == 0, next == i+n && next < s.hi && (r.tokens[next].kind == number || i > s.lo && r.at(s.lo, s.hi, rArticle) > 0):
		return s, false, false
	}
	return span{next, s.hi}, true, list && (colon || next > i+n) || r.hasLines(span{next, s.hi})
}

func (r *reader) hasLines(s span) bool {
	for i := s.lo; i < s.hi; i++ {
		if r.sign(i, "\n") {
			return true
		}
	}
	return false
}

// as finds "as a new task" at the end; -1: it is not there.
func (r *reader) as(s span) int {
	s = r.trimEnd(s, tEnding)
	for i := max(s.lo+1, s.hi-4); i < s.hi; i++ {
		if n := r.at(i, s.hi, tAs); n > 0 {
			j := r.skip(i+n, s.hi, rArticle, rIndefinite, rNew)
			if k := r.at(j, s.hi, rTask, rTasks); k > 0 && j+k == s.hi {
				return i
			}
		}
	}
	return -1
}

// addedTo reads what is added to a task, not to the list: a description, or words that have no clear place.
func (r *reader) addedTo(object span) []Result {
	if out := r.describe(object, false); out != nil {
		return out
	}
	s := r.trimEnd(object, tEnding, fFiller)
	for i := max(s.lo+1, s.hi-6); i < s.hi; i++ {
		n := r.at(i, s.hi, tTo)
		if n == 0 || r.tokens[i].quoted {
			continue
		}
		ref, end := r.exact(span{i + n, s.hi})
		if ref == nil || end != s.hi || ref.All || ref.It || r.at(r.skip(i+n, s.hi, rArticle), s.hi, rTask, rTasks) == 0 && !r.sign(i+n, "#") {
			continue
		}
		e := Entities{Reference: &ref.Reference}
		out := one(Update, weak-0.05, e, "something is added to a task, without saying where")
		out[0].Alternatives = []Alternative{{Create, bare, Entities{Title: r.title(object)}}}
		return out
	}
	return nil
}
