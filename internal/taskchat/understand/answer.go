package understand

import "slices"

// tally says whether a part is nothing but a yes, and whether one of its words always is one.
func (t *text) tally(s span, intent Intent) (yes, clearly bool) {
	strong, soft, thanks, verbs, total := 0, 0, 0, 0, 0
	particle := ""
	for i := s.lo; i < s.hi; {
		n := 1
		switch {
		case t.sign(i, ",", ".", "!", "-", "\n"):
		case t.total(span{i, s.hi}) > 0 && t.total(span{i, s.hi}) >= t.at(i, s.hi, yNo, yCancel, yMaybe, rNot):
			n = t.total(span{i, s.hi})
			if total++; n == 1 && t.at(i, s.hi, rBoth) == 0 && verbs > 0 { // "delete all" asks for more
				return false, false
			}
		case t.at(i, s.hi, yStrong) > 0 && t.at(i, s.hi, yStrong) >= t.at(i, s.hi, yNo, yCancel, yMaybe, rNot):
			n = t.at(i, s.hi, yStrong)
			if verbs == 0 || strong > 0 || t.at(i, s.hi, rIt) < n { // "apaga isso" is a command
				strong++
			}
		case t.at(i, s.hi, yNo, yCancel, yMaybe, rNot) > 0 && t.at(i, s.hi, yNo, yCancel, yMaybe, rNot) >= t.at(i, s.hi, yThat, tEnding):
			return false, false
		case t.at(i, s.hi, yWeak) > 0:
			n = t.at(i, s.hi, yWeak)
			soft++
		case t.at(i, s.hi, fThanks) > 0:
			n = t.at(i, s.hi, fThanks)
			thanks++
		case t.at(i, s.hi, yThat, fFiller, fMe, tEnding, rIt, fAsk) > 0:
			n = t.at(i, s.hi, yThat, fFiller, fMe, tEnding, rIt, fAsk)
		case t.at(i, s.hi, rArticle) > 0 && t.at(i+1, s.hi, rTask) == 1, t.at(i, s.hi, rTask) > 0 && i > s.lo && t.at(i-1, s.hi, rArticle) == 1:
		case t.isVerbOf(i, s.hi, intent) > 0:
			n = t.isVerbOf(i, s.hi, intent)
			verbs++
		case t.splitVerbOf(i, intent) != "":
			particle = t.splitVerbOf(i, intent)
			verbs++
		case particle != "" && t.tokens[i].norm == particle:
			particle = ""
		case intent == Complete && t.at(i, s.hi, tAs, tDone, vMark) > 0:
			n = t.at(i, s.hi, tAs, tDone, vMark)
			verbs++
		case t.tokens[i].kind == emoji && t.tokens[i].norm >= "\U0001F300" || isTone(t.tokens[i].norm):
		default:
			return false, false
		}
		i += n
	}
	again := verbs > 0 && t.has(s, rIt) >= 0 // "right, delete it"
	return strong > 0 || soft > 0 && thanks == 0 && (verbs == 0 || again) && total == 0, strong > 0
}

// total is the length of a reference to all of what was asked about: "all of them", "both", "all three".
func (t *text) total(s span) int {
	if t.at(s.lo, s.hi, rBoth, rEach, rAll) == 0 {
		return 0
	}
	if n, end := t.everything(s); n != nil && n.Except == nil && n.status == "" && t.has(span{s.lo, end}, rTasks, rList, rTask) < 0 {
		return end - s.lo
	}
	if n := t.at(s.lo, s.hi, rBoth, rEach, rAll); s.lo+n == s.hi || t.tokens[s.lo+n].kind == sign {
		return n
	}
	return 0
}

// splitVerbOf is the last word of the particle of a split verb of an intent that begins at a token and ends behind it; "": there is none.
func (t *text) splitVerbOf(i int, intent Intent) string {
	for _, e := range t.found[i] {
		if e.class != tParticle {
			continue
		}
		p := t.lex.pairs[e.value]
		matches := p.class == vDelete && intent == Delete || (p.class == vComplete || p.class == vCompleteWeak) && intent == Complete
		words := splitWords(p.particle)
		for k := i + 1; matches && len(words) == 1 && k < len(t.tokens); k++ {
			if t.tokens[k].norm == words[0] {
				return words[0]
			}
		}
	}
	return ""
}

// isTone says that a symbol only colours the one before it.
func isTone(s string) bool { return s >= "\U0001F3FB" && s <= "\U0001F3FF" }

// isVerbOf is the length of a verb of an intent at a token.
func (t *text) isVerbOf(i, hi int, intent Intent) int {
	switch intent {
	case Delete:
		return t.at(i, hi, vDelete, vDeleteWeak)
	case Complete:
		return t.at(i, hi, vComplete, vCompleteWeak)
	case Update:
		return t.at(i, hi, vUpdate, vUpdateWeak, vRename, vReopen)
	case Create:
		return t.at(i, hi, vCreate)
	}
	return 0
}

// declines says that a part is nothing but a no.
func (t *text) declines(s span) bool {
	no := 0
	for i := s.lo; i < s.hi; {
		n := 1
		switch {
		case t.sign(i, ",", ".", "!", "-", "\n"):
		case t.at(i, s.hi, fTalk) > max(1, t.at(i, s.hi, yNo, yCancel, rNone)):
			return false
		case t.at(i, s.hi, yNo, yCancel, rNone) > 0:
			n = t.at(i, s.hi, yNo, yCancel, rNone)
			no++
		case t.at(i, s.hi, yStrong) > 0:
			return false
		case t.at(i, s.hi, yThat, yWeak, fFiller, fThanks, fMe, tEnding, rIt, fAgain, rNot) > 0:
			n = t.at(i, s.hi, yThat, yWeak, fFiller, fThanks, fMe, tEnding, rIt, fAgain, rNot)
		case t.at(i, s.hi, fTalk) == 1, t.tokens[i].kind == emoji:
		default:
			return false
		}
		i += n
	}
	return no > 0
}

// isAnswer says that a part is nothing but a yes or a no.
func (r *reader) isAnswer(s span) bool {
	yes, clearly := r.tally(s, r.waiting())
	return !s.empty() && (yes && clearly || r.declines(s))
}

// waiting is the intent that a question is about; "" if nothing was asked.
func (r *reader) waiting() Intent {
	if r.context.Open == nil {
		return ""
	}
	return r.context.Open.Intent
}

func (r *reader) kind() string {
	if r.context.Open == nil {
		return ""
	}
	return r.context.Open.Kind
}

func (r *reader) answered(s span) said {
	if r.declines(s) {
		return said{results: one(Decline, sure, Entities{}, "a no"), takes: false}
	}
	return said{results: one(Confirm, sure, Entities{}, "a yes")}
}

// answer reads a message as an answer to what was asked. nil: it is none.
func (r *reader) answer() []Result {
	s := span{0, len(r.tokens)}
	if s.empty() {
		return nil
	}
	if yes, _ := r.tally(s, r.waiting()); yes {
		return one(Confirm, sure, Entities{}, "nothing but a yes")
	}
	if r.declines(s) {
		return one(Decline, sure, Entities{}, "nothing but a no")
	}
	if out := r.answerAnd(s); out != nil {
		return out
	}
	if r.kind() == KindConfirm && r.waiting() == Complete && !r.sign(s.hi-1, "?") { // "it's done"
		out := r.statement(r.front(s).span)
		if len(out) == 1 && out[0].Intent == Complete && out[0].Entities.Reference != nil && out[0].Entities.Reference.It {
			return one(Confirm, clear, Entities{}, "what was asked about is said to be done")
		}
	}
	switch r.kind() {
	case KindChoose:
		return r.choice(s)
	case KindValue:
		return r.valueGiven(s)
	case KindConfirm:
		return r.unclear(s)
	}
	return nil
}

// answerAnd reads a yes or a no with more behind it: "yes, and add milk", "no, the third one".
func (r *reader) answerAnd(s span) []Result {
	i := r.skip(s.lo, s.hi, fFiller)
	no := 0
	for k := 1; k > 0; i += k {
		if k = r.noAt(i, s.hi, no > 0); k > 0 {
			no++
		} else if no > 0 && r.sign(i, ",", ".", "!", "-", ";") {
			k = 1
		}
	}
	if n := r.at(i, s.hi, rNot); n > 0 && r.context.Open != nil { // "not that one, the second"
		if ref, end := r.exact(span{i + n, s.hi}); ref != nil && r.sign(end, ",", ".", "-") {
			no, i = no+1, end+1
		}
	}
	if no > 0 && i < s.hi && (r.context.Open != nil || r.has(span{s.lo, i}, yNo, yCancel, fMeant) >= 0 || r.previous != "") {
		return r.noAnd(span{i, s.hi}, r.sign(i-1, ",", ".", "!", "-", ";"))
	}
	i = s.lo
	n := r.at(i, s.hi, yStrong, yWeak)
	if n == 0 || r.context.Open == nil {
		return nil
	}
	doubts := r.trimStart(span{i + n, s.hi}, rAnd)
	rest := r.trimStart(doubts, fFiller, tThen, rAnd, yStrong, yThat, tEnding)
	if ref := r.onlySome(doubts); ref != nil && r.kind() == KindConfirm {
		return one(r.waiting(), asked, Entities{Reference: ref}, "a yes to a part of it")
	}
	if r.kind() == KindConfirm && (rest.empty() || r.at(doubts.lo, doubts.hi, yMaybe) > 0) {
		return one(Chat, weak, Entities{}, "a yes that is taken back")
	}
	if rest.empty() {
		return nil
	}
	wonders := r.at(rest.lo, rest.hi, fAsking) > 0 && !r.sign(s.hi-1, "?")
	if wonders || r.at(rest.lo, rest.hi, yMaybe, rNot, yCancel, yNo, fIf) > 0 && r.at(rest.lo, rest.hi, vRemind) == 0 {
		return one(Chat, weak, Entities{}, "a yes that is taken back")
	}
	return r.yesAnd(rest, r.sign(i+n, ",", ".", "!", "-", ";") || r.at(i+n, s.hi, rAnd) > 0)
}

// noAt is the length of a no at a token; 0 if there is none, or if it belongs to what follows: "don't forget", "cancel task 2". What takes
// something back is a no behind another one, and where no options are asked about.
func (r *reader) noAt(i, hi int, more bool) int {
	n := r.at(i, hi, yNo, yCancel, fAgain)
	switch {
	case n < r.at(i, hi, yStrong, fTalk, yMaybe), !more && r.kind() == KindChoose && r.at(i, hi, yNo, yCancel) == 0:
		return 0
	case r.verbAfter(i, n, hi), r.at(i, hi, tParticle) > 0 && r.command(span{i, hi}) != nil:
		return 0
	case n > 0 && r.at(i, hi, rNone) >= n && r.at(i+n, hi, tLink, tDone) > 0: // "nothing is done"
		return 0
	case r.at(i, hi, rNot) >= n && i+n < hi && r.tokens[i+n].kind != sign:
		return 0
	}
	return n
}

// verbAfter says that a no belongs to a command behind it: "don't forget".
func (r *reader) verbAfter(i, n, hi int) bool {
	e, k := r.verb(i, hi)
	return e.class < lastVerb && (k > n || k == n && i+k < hi && r.tokens[i+k].kind != sign)
}

// yesAnd reads what follows a yes. Only clear commands leave it one.
func (r *reader) yesAnd(rest span, apart bool) []Result {
	if ref, end := r.exact(rest); ref != nil && r.trimEnd(span{end, rest.hi}, fFiller, tEnding).empty() {
		if r.kind() == KindChoose && ref.status == "" {
			return one(Choose, clear, Entities{Reference: &ref.Reference}, "one of the options")
		}
		ref.Words = r.raw(rest)
		out := one(r.waiting(), asked-0.05, Entities{Reference: &ref.Reference, Status: ref.status}, "a yes, but to another task perhaps")
		out[0].Alternatives = []Alternative{{Confirm, weak, Entities{}}}
		return out
	}
	out := r.body(rest)
	if !slicesAllActs(out) || r.guessed || slices.ContainsFunc(out, func(x Result) bool { return x.Confidence < clear-0.03 }) {
		if r.kind() != KindConfirm {
			r.guessed = false
			return nil
		}
		return one(Chat, weak, Entities{}, "a yes with something else")
	}
	pointsBack := slices.ContainsFunc(out, func(x Result) bool { return x.Entities.Reference != nil && x.Entities.Reference.It })
	if pointsBack || out[0].Intent == r.waiting() && out[0].Intent != Create {
		out[0].Alternatives = append(out[0].Alternatives, Alternative{Confirm, weak, Entities{}})
		return out
	}
	if !apart {
		return out
	}
	return append(one(Confirm, clear, Entities{}, "a yes, and more"), out...)
}

// noAnd reads what follows a no: a correction, or something else.
func (r *reader) noAnd(rest span, apart bool) []Result {
	decline := one(Decline, clear, Entities{}, "a no")
	if n := r.at(rest.lo, rest.hi, fMeant); n > 0 || r.plain(rest) != nil {
		if out := r.meant(rest); out != nil {
			return out
		}
	}
	rest = r.trim(rest, fFiller, fAgain, tEnding, rAnd)
	if pick := r.trim(r.trimStart(rest, tPick), fMeant); !pick.empty() {
		if ref, end := r.exact(pick); ref != nil && end == pick.hi {
			rest = pick
		}
	}
	if rest.empty() {
		return decline
	}
	waits := r.waiting()
	if n := r.at(rest.lo, rest.hi, tLeads); n > 0 && rest.lo+n < rest.hi && (waits == Create || waits == Update) {
		return append(decline, one(waits, implied, Entities{Title: r.title(span{rest.lo + n, rest.hi})}, "a no, and another title")...)
	}
	ref, end := r.exact(rest)
	if ref != nil && r.trimEnd(span{end, rest.hi}, fFiller, tEnding, tInsteadOf).empty() && !ref.It && !r.beginsCommand(rest.lo, rest.hi) {
		if waits == "" {
			return append(decline[:0], one(Choose, weak, Entities{Reference: &ref.Reference}, "a task without what to do with it")...)
		}
		ref.Words = r.raw(rest)
		intent := waits
		return append(decline, one(intent, r.trust(ref), Entities{Reference: &ref.Reference, Status: ref.status}, "a no, and the right task")...)
	}
	guessed := r.guessed
	out := r.body(rest)
	if slicesAllActs(out) && !r.guessed {
		if r.context.Open == nil {
			return out
		}
		return append(decline, out...)
	}
	r.guessed = guessed
	if !apart && r.context.Open == nil {
		return nil
	}
	named := apart && waits != "" && r.kind() == KindConfirm && r.words(rest) < 8 && !r.unsayable(rest) && r.has(rest, fSubject, yMaybe, rNot) < 0
	if ref := r.reference(rest); named && ref != nil {
		if waits == Create {
			return append(decline, r.added(rest, false, implied, "a no, and another title")...)
		}
		return append(decline, one(waits, asked, Entities{Reference: &ref.Reference}, "a no, and other words of a title")...)
	}
	if !apart && r.kind() == KindValue {
		return nil
	}
	return decline
}

// slicesAllActs says that there are results, and that all are commands that may be carried out or asked about.
func slicesAllActs(out []Result) bool {
	return len(out) > 0 && !slices.ContainsFunc(out, func(x Result) bool {
		return x.Intent == Chat || x.Intent == Choose || x.Intent == Confirm || x.Intent == Decline || x.Confidence < weak
	})
}

// slicesAllExplicit says that every result names its tasks by position.
func slicesAllExplicit(out []Result) bool {
	return !slices.ContainsFunc(out, func(x Result) bool {
		ref := x.Entities.Reference
		return x.Intent == Create || ref == nil || ref.Title != "" || ref.It
	})
}

// choice reads an answer to numbered options.
func (r *reader) choice(s span) []Result {
	open := r.context.Open
	if r.sign(s.hi-1, "?") {
		return nil
	}
	f := r.front(s)
	inner := r.trim(r.trimStart(f.span, tPick, fMeant), fFiller, tEnding, fMe, fHedge)
	if e, n := r.entry(inner.lo, inner.hi, rNumber); n > 0 && inner.lo+n == inner.hi {
		return one(Choose, sure, Entities{Reference: &Reference{Words: r.raw(inner), Positions: []int{e.value}}}, "a position among the options")
	}
	if ref, end := r.exact(inner); ref != nil && ref.status == "" && end < inner.hi { // "the first, delete it"
		if k := r.trim(span{end, inner.hi}, fFiller, tEnding); r.isVerbOf(k.lo, k.hi, open.Intent) == k.hi-k.lo {
			inner.hi = end
		}
	}
	if ref, end := r.exact(inner); ref != nil && end == inner.hi && !f.negated {
		ref.Words = r.raw(inner)
		if ref.status != "" { // "the finished ones" are others than the options
			return one(open.Intent, asked, Entities{Reference: &ref.Reference, Status: ref.status}, "all of a state instead of an option")
		}
		within := r.within(&ref.Reference, len(open.Options))
		if p := r.optionsNamed(inner); len(p) == 1 && len(ref.Positions) == 1 && p[0] != ref.Positions[0] && (r.has(inner, rTask) >= 0 || !within) {
			if within { // "task 2" may be the second option, or the one that is called so
				return one(Choose, weak, Entities{Reference: &ref.Reference}, "a position, and words of another option")
			}
			return one(Choose, clear, Entities{Reference: &Reference{Words: ref.Words, Positions: p}}, "words of one option")
		}
		return one(Choose, sure, Entities{Reference: &ref.Reference}, "a position among the options")
	}
	guessed := r.guessed
	out := r.body(s)
	was := r.guessed
	r.guessed = guessed
	if len(out) == 1 && out[0].Intent == open.Intent && open.Intent != Create {
		ofState := open.Intent != Update && out[0].Entities.Status != ""
		if ref := out[0].Entities.Reference; ref != nil && ref.Title == "" && !ref.It && !ofState && out[0].Entities.Title == "" && r.within(ref, len(open.Options)) {
			return []Result{{Intent: Choose, Confidence: clear, Entities: Entities{Reference: ref}, Reasoning: "the command again, with one of the options",
				Alternatives: []Alternative{{out[0].Intent, weak, out[0].Entities}}}}
		}
	}
	if !was && slicesAllActs(out) && out[0].Confidence >= likely && out[0].Intent != Create {
		return out
	}
	if p := r.optionsNamed(f.span); len(p) > 0 && !f.negated {
		e := Entities{Reference: &Reference{Words: r.raw(f.span), Positions: p}}
		if len(p) > 1 {
			return one(Choose, weak, e, "words of several options")
		}
		return one(Choose, clear, e, "words of one option")
	}
	r.guessed = was
	return out
}

func (r *reader) within(ref *Reference, options int) bool {
	return !slices.ContainsFunc(ref.Positions, func(p int) bool { return p > options || p < -options })
}

// optionsNamed are the options that have all content words of an answer, or of which the answer has all; by their whole words.
func (r *reader) optionsNamed(s span) (positions []int) {
	var words []string
	for i := s.lo; i < s.hi; {
		tok := r.tokens[i]
		n := r.at(i, s.hi, yStrong, yInsist, rArticle, rIndefinite, rTask, rOne, rAbout, fFiller, tEnding, tPick, fAgain, fMeant, rOf, tTo)
		if i += max(1, n); tok.kind == word && n > 0 || tok.kind == sign || tok.kind == emoji {
			continue
		}
		words = append(words, tok.norm)
	}
	if len(words) == 0 {
		return nil
	}
	for i, label := range r.context.Open.Options {
		var has []string
		for _, tok := range tokenize(label) {
			has = append(has, tok.norm)
		}
		if !slices.ContainsFunc(words, func(w string) bool { return !slices.Contains(has, w) }) {
			positions = append(positions, i+1)
		}
	}
	return positions
}

// unclear reads words that answer a yes-or-no question with neither. nil: they are no answer.
func (r *reader) unclear(s span) []Result {
	f := r.front(s)
	inner := r.trim(f.span, fFiller, tEnding, rOnly)
	if ref, end := r.exact(inner); ref != nil && end == inner.hi && !f.negated && !r.sign(s.hi-1, "?") {
		if ref.It {
			return one(Chat, weak, Entities{}, "neither yes nor no")
		}
		ref.Words = r.raw(inner)
		out := one(r.waiting(), asked, Entities{Reference: &ref.Reference, Status: ref.status}, "another task instead")
		return out
	}
	if r.isOpen(inner) || r.has(s, yMaybe, fHedge) == s.lo || r.sign(s.hi-1, "?") && r.at(s.lo, s.hi, yStrong, yWeak) > 0 {
		return one(Chat, weak, Entities{}, "neither yes nor no")
	}
	return nil
}
