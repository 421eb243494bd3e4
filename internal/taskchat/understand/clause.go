package understand

import "slices"

// abbreviations are short words that a full stop follows within a sentence, beside single letters and short names such as Dr.
var abbreviations = []string{"nr", "no", "vs", "ca", "bzw", "usw", "etc", "approx", "tel", "str", "av", "prof", "sra", "dra"}

// sentences cuts a message at full stops, exclamation and question marks, and lines; the mark belongs to its sentence.
func (r *reader) sentences() (out []span) {
	lo, lines := 0, false
	for i, tok := range r.tokens {
		end := false
		switch {
		case tok.kind != sign || tok.quoted && !r.closes(i):
		case tok.norm == ";":
			end = !r.verbatimSince(lo, i) && !r.listsOn(span{lo, i})
		case tok.norm == "!", tok.norm == "?":
			end = true
		case tok.norm == ".":
			end = r.endsSentence(i)
		case tok.norm == "\n":
			if r.sign(i-1, ":") && i > lo {
				lines = true // a list follows
			}
			end = !lines
		}
		if end && i+1 < len(r.tokens) && r.sign(i+1, "!", "?", ".") {
			end = false
		}
		if end {
			out, lo, lines = append(out, span{lo, i + 1}), i+1, false
		}
	}
	if lo < len(r.tokens) {
		out = append(out, span{lo, len(r.tokens)})
	}
	return out
}

// verbatimSince says that a colon stands between two tokens: what follows it is a list or a title.
func (r *reader) verbatimSince(lo, hi int) bool {
	for i := lo; i < hi; i++ {
		if r.sign(i, ":") {
			return true
		}
	}
	return false
}

// listsOn says that behind a semicolon another title follows, not something else that is said: "add milk; bread".
func (r *reader) listsOn(left span) bool {
	f := r.front(left)
	if e, n := r.verb(f.lo, f.hi); n == 0 || e.class != vCreate && e.class != vRemind {
		return false
	}
	end := left.hi + 1
	for end < len(r.tokens) && !r.sign(end, ";", ".", "!", "?", "\n") {
		end++
	}
	next := r.trim(span{left.hi + 1, end})
	if next.empty() || r.sign(end, "?") || r.words(next) > mostListed || r.beginsCommand(next.lo, next.hi) || r.unsayable(next) {
		return false
	}
	ref, _ := r.exact(next)
	return ref == nil && r.has(next, tDone) < 0 && r.at(next.lo, next.hi, fIf, fAsking, fHelp, fAgain, fHedge, yStrong, yWeak, yNo, yCancel, yMaybe, rNot, rThese) == 0
}

// mostListed bounds the words of a title behind a semicolon.
const mostListed = 6

func (r *reader) closes(i int) bool { return i+1 >= len(r.tokens) || !r.tokens[i+1].quoted }

func (r *reader) endsSentence(i int) bool {
	if i+1 >= len(r.tokens) {
		return true
	}
	if r.tokens[i+1].glued || i == 0 {
		return false
	}
	prev := r.tokens[i-1]
	starts := r.beginsCommand(i+1, len(r.tokens))
	switch {
	case prev.kind == number:
		return starts || r.capital(i+1) && r.lex.known(r.tokens[i+1].norm) && r.at(i+1, len(r.tokens), rTask, rTasks, rOne) == 0
	case prev.kind != word || starts:
		return true
	}
	short := prev.end-prev.start <= 3 && r.capital(i-1) || prev.end-prev.start == 1
	return !short && !slices.Contains(abbreviations, prev.norm)
}

func (r *reader) beginsCommand(i, hi int) bool {
	i = r.skip(i, hi, fFiller, rAnd, tThen)
	_, n := r.verb(i, hi)
	return n > 0 || r.at(i, hi, fAsk, fWish) > 0
}

// clauses cuts a sentence at commas and connectors behind which somebody begins to say something else.
func (r *reader) clauses(s span) (out []span) {
	lo := s.lo
	for i := s.lo + 1; i < s.hi; i++ {
		if r.tokens[i].quoted {
			continue
		}
		var n int
		if r.sign(i, ",", "-", ".", "(") && !(r.tokens[i].glued && r.sign(i, "-")) || r.tokens[i].kind == emoji {
			n = 1
		} else {
			n = r.at(i, s.hi, rAnd, tThen)
		}
		if n == 0 && r.withdrawn(span{lo, i}, i, s.hi) {
			out = append(out, span{lo, i})
			lo = i
			i = r.skip(i, s.hi, fAgain, yNo, fFiller) - 1
			continue
		}
		if n == 0 {
			continue
		}
		j := r.skip(i+n, s.hi, rAnd, tThen, fFiller)
		if j >= s.hi || !r.cuts(span{lo, i}, j, s.hi, r.sign(i, ",", "-", ".")) {
			continue
		}
		out = append(out, span{lo, i})
		lo, i = i+n, j-1
	}
	return append(out, span{lo, s.hi})
}

// mostWords bounds the words and signs of a clause that another may follow in its sentence.
const mostWords = 80

// cuts says whether a clause begins at j, behind left.
func (r *reader) cuts(left span, j, hi int, comma bool) bool {
	body := r.front(left).span
	if body.hi-body.lo > mostWords {
		return false
	}
	if body.empty() { // "please, …": what stands before the clause is a part of it
		return false
	}
	if r.at(body.lo, body.hi, fAgain) == body.hi-body.lo {
		return false
	}
	if r.isAnswer(body) {
		ref, end := r.exact(r.toJoint(j, hi)) // "no, task 3" corrects what stands before it
		return !(r.declines(body) && ref != nil && end == r.toJoint(j, hi).hi)
	}
	if r.verbatim(body) || r.awaits(body, hi) {
		return false
	}
	if comma && r.at(j, hi, fAgain, yNo, yCancel) > 0 {
		n := r.at(j, hi, fAgain, yNo, yCancel)
		k := r.trimStart(span{j + n, hi}, fFiller, fAgain)
		ref, _ := r.exact(k)
		article := r.at(k.lo, k.hi, rArticle) > 0 && r.kindOf(body) != Create
		return k.empty() || r.sign(j+n, ",", ".", "!") || ref != nil || article || r.declines(k) || r.at(j, hi, fAgain, yCancel) > 0 && r.at(j, hi, rNot) == 0
	}
	if r.at(j, hi, fAsk, fWish) > 0 || comma && r.at(j, hi, fHelp) > 0 {
		return true
	}
	if r.at(j, hi, fPerfect) > 0 && r.donePast(r.toJoint(j, hi)) != nil {
		return true
	}
	if r.pastAt(j, hi) > 0 && r.pastAt(j, hi) < hi-j && r.donePast(body) != nil {
		return true
	}
	if rest := r.trim(r.toJoint(j, hi), tEnding, fFiller); r.linkedDone(body) && r.linkedDone(rest) || r.isToo(body, r.toJoint(j, hi)) {
		return true
	}
	if comma && r.sign(hi-1, "?") && r.at(j, hi, fAsking) > 0 || comma && r.at(j, hi, tEnding) > 0 {
		return true
	}
	if r.at(j, hi, rNot) > 0 {
		j += r.at(j, hi, rNot)
	}
	return r.cutsCommand(body, j, hi)
}

// linkedDone says that a part says of something that it is done: "the car is washed".
func (r *reader) linkedDone(s span) bool {
	s = r.trimEnd(s, tEnding, fFiller, tAlready)
	n := r.before(s.lo, s.hi, tDone)
	if n == 0 && s.hi-1 > s.lo && r.isParticiple(s.hi-1) {
		n = 1
	}
	if ref, end := r.exact(s); ref != nil && ref.Positions != nil && (n > 0 && s.hi-n >= end || r.at(end, s.hi, tGone) == s.hi-end && end < s.hi) {
		return true // "2 done", "3 can go"
	}
	link := r.before(s.lo, s.hi-n, tLink)
	return n > 0 && link > 0 && s.hi-n-link > s.lo
}

// isToo says that behind a command another task is named for it: "delete the milk task, and the second one as well".
func (r *reader) isToo(left, s span) bool {
	rest := r.trim(s, fFiller, fToo, tEnding)
	ref, end := r.exact(rest)
	if ref == nil || end != rest.hi || rest.hi == s.hi && rest.lo == s.lo || r.has(s, fToo) < 0 {
		return false
	}
	out := r.command(left)
	return len(out) == 1 && (out[0].Intent == Delete || out[0].Intent == Complete) && out[0].Entities.Reference != nil
}

// awaits says that the clause on the left begins with a split verb whose particle comes later in the sentence.
func (r *reader) awaits(left span, hi int) bool {
	if at, _ := r.destination(left); at > left.lo { // "put milk on the list and tick off 2"
		return false
	}
	for _, e := range r.found[left.lo] {
		if e.class != tParticle {
			continue
		}
		last := splitWords(r.lex.pairs[e.value].particle)
		has := func(s span) bool {
			for i := s.lo; i < s.hi; i++ {
				if r.tokens[i].norm == last[len(last)-1] && !r.tokens[i].quoted {
					return true
				}
			}
			return false
		}
		if !has(left) && has(r.toJoint(left.hi+1, hi)) {
			return true
		}
	}
	return false
}

// cutsCommand says whether the command at j is one by itself, not part of a title or of a new value on the left.
func (r *reader) cutsCommand(left span, j, hi int) bool {
	right := r.toJoint(j, hi)
	if r.lex.last { // the verb may stand behind a further joint: "Aufgabe 1 und 2 löschen"
		right = r.toVerb(j, hi)
	}
	if _, n := r.verb(j, hi); r.at(j, hi, fGreet) > n {
		return false
	}
	kind := r.kindOf(left)
	if r.tokens[left.hi-1].quoted && r.has(left, tDesc) < 0 { // what is quoted has ended
		kind = ""
		if _, n := r.verb(j, hi); n == 0 {
			return false
		}
	}
	for _, h := range r.heads(right) {
		object := r.trim(h.object, fMe, fFiller)
		if h.final && kind == "" {
			continue
		}
		switch h.class {
		case vRemind, vNeed:
			return !object.empty()
		case vCreate, vPut:
			if kind == Create && r.words(left) < 2 {
				continue
			}
			if h.class == vPut && r.put(object, h.value) == nil {
				continue
			}
			return !object.empty()
		case vErrand, vErrandNoun:
			if kind == "" || kind == Delete || kind == Complete {
				return !r.titled(left) && r.beginsErrand(right)
			}
			if kind == List {
				return r.beginsErrand(right)
			}
		default:
			if h.typo && object.empty() {
				continue
			}
			if kind == Create || kind == Update && r.hasValue(left) {
				if r.explicitly(h, object) {
					return true
				}
				if kind == Create && !r.errandTitle(left) && h.class == vDelete && r.reference(object) != nil && r.words(left) > 1 {
					return true
				}
				continue
			}
			if r.perform(right, h) != nil {
				return true
			}
		}
	}
	return false
}

// explicitly says that the object of a command names tasks as tasks: by position, or called so; or that the command needs none.
func (r *reader) explicitly(h head, object span) bool {
	switch h.class {
	case vList, vUndo:
		return r.perform(object, h) != nil && !object.empty()
	case vMark:
		return r.mark(object) != nil
	}
	if object.empty() {
		return false
	}
	ref, end := r.exact(object)
	if ref != nil && !ref.It && (end == object.hi || r.at(end, object.hi, tInto, tAs, tDone, fFiller, tEnding, tTo, rAnd) > 0 || r.sign(end, ",", ".", ":")) {
		return true
	}
	whole := r.reference(object)
	return whole != nil && whole.explicit && !whole.It && !whole.doubt
}

// toJoint is the part from a token to the next comma or connector behind which a command begins.
func (r *reader) toJoint(j, hi int) span {
	for i := j + 1; i < hi; i++ {
		n := r.joint(i, hi, false)
		if n == 0 {
			continue
		}
		if k := r.skip(i+n, hi, rAnd, tThen, fFiller); k < hi && r.beginsCommand(k, hi) {
			return r.trimEnd(span{j, i})
		}
	}
	return r.trimEnd(span{j, hi})
}

// toVerb is the part from a token to the next joint that a verb stands before.
func (r *reader) toVerb(j, hi int) span {
	for i := j + 1; i < hi; i++ {
		if r.joint(i, hi, false) > 0 && (r.endsErrand(span{j, i}) || r.before(j, i, vDelete, vComplete, vCreate, vUpdate, vList) > 0) {
			return span{j, i}
		}
	}
	return r.toJoint(j, hi)
}

// kindOf is what a clause on the left of a joint begins as; "" if as no command.
func (r *reader) kindOf(left span) Intent {
	for _, h := range r.heads(left) {
		switch h.class {
		case vRemind, vNeed, vCreate, vErrand, vErrandNoun:
			return Create
		}
		if out := r.perform(left, h); out != nil {
			return out[0].Intent
		}
	}
	if r.endsErrand(left) {
		return Create
	}
	return ""
}

// verbatim says that what follows a colon on the left is a title to its end.
func (r *reader) verbatim(left span) bool {
	for i := left.lo; i < left.hi; i++ {
		if r.sign(i, ":") && !r.tokens[i].quoted {
			kind := r.kindOf(left)
			return kind == Create || kind == Update
		}
	}
	return false
}

// titled says that the clause on the left names a task by a title that itself begins with a verb: what follows may belong to it.
func (r *reader) titled(left span) bool {
	out := r.command(left)
	if len(out) == 0 || out[0].Entities.Reference == nil || out[0].Entities.Reference.Title == "" {
		return false
	}
	for i := left.lo + 1; i < left.hi; i++ {
		if r.beginsErrand(span{i, left.hi}) {
			return true
		}
	}
	return false
}

func (r *reader) hasValue(left span) bool {
	out := r.command(left)
	return len(out) > 0 && out[0].Intent == Update && (out[0].Entities.Title != "" || out[0].Entities.HasDescription)
}

// errandTitle says that the clause on the left makes a task whose title begins with a verb.
func (r *reader) errandTitle(left span) bool {
	for _, h := range r.heads(left) {
		switch h.class {
		case vErrand, vErrandNoun:
			return true
		case vRemind, vNeed:
			return r.beginsErrand(r.trimStart(h.object, fMe))
		case vCreate:
			title, _, _ := r.afterNoun(r.trim(h.object, fMe))
			return r.beginsErrand(title)
		}
	}
	return false
}

// front is a clause without what stands before what it says.
type front struct {
	span
	polite, hedged, wished, greeted, negated bool
}

// front takes greetings, fillers, "could you", "I'd like to" and "maybe" from the beginning of a clause.
func (r *reader) front(s span) front {
	f := front{span: r.trimStart(r.trimEnd(s))}
	if at := r.askedIf(f.span); at > 0 {
		f.polite, f.lo = true, at
	}
	for !f.empty() {
		if _, n := r.verb(f.lo, f.hi); n > 0 && n >= r.at(f.lo, f.hi, fFiller, fHedge, fAsk, fWish, fGreet, fThanks, rNot) {
			break
		}
		n := r.at(f.lo, f.hi, fGreet, fThanks)
		if k := r.skip(f.lo+n, f.hi, fClosing) - f.lo; n > 0 && r.standsApart(f.lo+k, f.hi) {
			n = k
		}
		if n > r.at(f.lo, f.hi, fFiller) && r.standsApart(f.lo+n, f.hi) {
			f.greeted = true
			f.lo += n
			f.span = r.trimStart(f.span)
			continue
		}
		if n = r.at(f.lo, f.hi, fHelp); n > 0 && n >= r.at(f.lo, f.hi, fAsk, fWish) {
			break
		}
		if n = r.at(f.lo, f.hi, fAsk); n > 0 && n >= r.at(f.lo, f.hi, fWish, fFiller) {
			f.polite = true
		} else if n = r.at(f.lo, f.hi, fWish); n > 0 && r.opensCommand(f.lo+n, f.hi) {
			f.wished = true
		} else if n = r.at(f.lo, f.hi, fHedge); n > 0 {
			f.hedged = true
		} else if n = r.at(f.lo, f.hi, fFiller, rAnd, tThen); n > 0 {
		} else if n = r.at(f.lo, f.hi, fTalk, tInsteadOf); n > 0 && r.beginsCommand(f.lo+n, f.hi) {
		} else if n = r.at(f.lo, f.hi, rNot); n > 0 && r.verbBehind(f.lo+n, f.hi) {
			f.negated = true
		} else if r.tokens[f.lo].kind == emoji {
			n = 1
		} else {
			break
		}
		f.lo += n
		f.span = r.trimStart(f.span)
	}
	return f
}

// askedIf is where a request begins that is put as a condition: "it would be great if you could …"; 0: there is none.
func (r *reader) askedIf(s span) int {
	if _, n := r.verb(s.lo, s.hi); n > r.at(s.lo, s.hi, fFiller, fSubject) {
		return 0
	}
	for i := s.lo; i < min(s.hi, s.lo+8); i++ {
		if n := r.at(i, s.hi, fAskIf); n > 0 && r.beginsCommand(i+n, s.hi) {
			return i + n
		}
	}
	return 0
}

// standsApart says that at a token a part ends, or something else begins.
func (r *reader) standsApart(i, hi int) bool {
	return i >= hi || r.sign(i, ",", "!", ".", "-", ":") || r.tokens[i].kind == emoji
}

// opensCommand says that a wish goes on with something to do.
func (r *reader) opensCommand(i, hi int) bool {
	return r.lex.last || r.beginsCommand(i, hi) || i < hi && r.lex.infinitive(r.tokens[i], false)
}

func (r *reader) verbBehind(i, hi int) bool {
	_, n := r.verb(r.skip(i, hi, fFiller), hi)
	return n > 0
}
