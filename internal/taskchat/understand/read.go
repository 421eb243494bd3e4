package understand

import "slices"

// said is what a clause was understood to say.
type said struct {
	results []Result
	guess   bool // no verb and no frame showed it
	past    bool // it tells what the person did
	takes   bool // it takes back what was said before it
	stated  bool // it says how something is, and asks for nothing
	span    span // without what stands before what it says
}

// read reads the whole message.
func (r *reader) read() []Result {
	if out := r.meantWhen(span{0, len(r.tokens)}); out != nil {
		return out
	}
	if out := r.answer(); out != nil {
		return out
	}
	return r.body(span{0, len(r.tokens)})
}

// body reads a part of the message as clauses that each say something.
func (r *reader) body(s span) []Result {
	var all []said
	var denial *said // a no behind a command: what comes next is in its place
	for _, sentence := range r.sentences() {
		sentence.lo, sentence.hi = max(sentence.lo, s.lo), min(sentence.hi, s.hi)
		if sentence.empty() {
			continue
		}
		if r.trimStart(sentence, fFiller).empty() {
			continue
		}
		for _, c := range r.sentence(sentence) {
			denied := len(all) > 0 && slices.ContainsFunc(all[len(all)-1].results, acts) && r.denies(c)
			switch {
			case denied && denial == nil:
				denial = &c
			case denied:
			case len(all) > 0 && (c.takes || denial != nil):
				all, denial = r.takeBack(all, c), nil
			default:
				all = append(all, c)
			}
		}
	}
	if denial != nil {
		all = r.takeBack(all, *denial)
	}
	return r.combine(r.merge(all))
}

// sentence reads the clauses of a sentence. What somebody says in it, and what follows a condition, taints the rest.
func (r *reader) sentence(s span) (all []said) {
	s = r.withoutInsisting(s)
	clauses := r.clauses(s)
	if r.reported(s, clauses) {
		return []said{{results: one(Chat, asked, Entities{}, "what somebody said")}}
	}
	conditional := false
	asks := r.sign(s.hi-1, "?")
	for i, c := range clauses {
		one := r.clause(c, asks && i == len(clauses)-1)
		r.told, r.spoke = one.past, r.subject(one) != nil
		if n := len(one.results); n > 0 && !one.guess && acts(one.results[n-1]) && one.results[n-1].Intent != Undo {
			r.previous, r.acted = one.results[n-1].Intent, true
		}
		if r.at(r.skip(c.lo, c.hi, fFiller, rAnd), c.hi, fIf) > 0 {
			conditional = true
		} else if conditional {
			doubt(one.results, weak)
		}
		all = append(all, one)
	}
	if asks && len(clauses) > 1 && r.at(r.trimStart(clauses[len(clauses)-1]).lo, s.hi, yStrong, yWeak, tEnding) > 0 {
		for _, c := range all { // "delete task 2, right?"
			doubt(c.results, asked)
		}
	}
	return all
}

// doubt lowers the confidence of what changes something.
func doubt(results []Result, to float64) {
	for i := range results {
		switch results[i].Intent {
		case Create, Update, Complete, Delete, Undo:
			results[i].Confidence = min(results[i].Confidence, to)
		}
	}
}

// reported says that a sentence tells what somebody said: it has a verb of saying before anything that could be a command, or at its end.
func (r *reader) reported(s span, clauses []span) bool {
	f := r.front(clauses[0])
	if _, n := r.verb(f.lo, f.hi); n == 0 && !f.polite && !f.wished && r.has(span{s.lo, r.skipSigns(s, fFiller, fAgain, fMeant, yNo)}, fMeant) < 0 {
		for i := f.lo; i < f.hi && i <= f.lo+5; i++ {
			if n := r.at(i, f.hi, rAbout, tShould); n > 1 { // "a task that says …"
				i += n - 1
			} else if r.at(i, f.hi, fReport) > 0 && (i < f.hi-1 || r.before(f.lo, i, tLink, tAlready) == 0) { // not "the letter is written"
				return true
			}
		}
	}
	if end := r.trimEnd(s, tEnding); !end.empty() && r.at(end.hi-1, end.hi, fReport) > 0 {
		for i := end.hi - 2; i > s.lo && i > end.hi-6; i-- { // "…, my wife said"
			if r.sign(i, ",", "-") && !r.tokens[i].quoted {
				return true
			}
		}
	}
	last := clauses[len(clauses)-1]
	for i := last.hi - 1; i > s.lo && i > last.hi-4; i-- {
		if r.at(i, last.hi, fReport) > 0 && r.at(i-1, last.hi, fSubject) > 0 && r.trimEnd(span{i + r.at(i, last.hi, fReport), last.hi}, tEnding).empty() {
			return true
		}
	}
	return false
}

// clause reads one clause.
func (r *reader) clause(s span, asks bool) said {
	whole := r.trim(s)
	f := r.front(s)
	if f.empty() {
		return said{results: one(Chat, asked, Entities{}, "politeness")}
	}
	if out := r.meantWhen(whole); out != nil && !r.acted {
		return said{results: out, span: whole}
	}
	if rest := r.trimStart(whole, fFiller, fAgain, yNo, fMeant, fTalk); !rest.empty() && r.has(span{whole.lo, rest.lo}, fAgain, yNo, fMeant) >= 0 {
		again := r.has(span{whole.lo, rest.lo}, fAgain, fMeant) >= 0
		negates := r.at(whole.lo, whole.hi, rNot) > 0 && !r.sign(rest.lo-1, ",", ".", "!") // "nicht die zweite löschen"
		if (again || r.plain(rest) != nil) && !negates {
			c := r.clause(rest, asks)
			c.takes = true
			if named := c.guess || len(c.results) == 1 && c.results[0].Intent == Choose; named && !r.acted {
				if out := r.meant(rest); out != nil {
					return said{results: out, span: rest}
				} else if r.context.Open == nil && r.has(span{whole.lo, rest.lo}, fMeant) >= 0 {
					return said{results: one(Chat, weak, Entities{}, "something was meant that is not known")}
				}
			}
			return c
		}
	}
	c := r.plainly(s, whole, f, asks)
	c.span = f.span
	return c
}

// plainly reads a clause that takes nothing back.
func (r *reader) plainly(s, whole span, f front, asks bool) said {
	if r.context.Open == nil { // a yes said in advance
		if rest := r.trimStart(f.span, yStrong, yInsist, fFiller); rest.lo > f.lo && !rest.empty() && r.beginsCommand(rest.lo, rest.hi) {
			f = r.front(rest)
		}
	}
	if r.isQuoted(whole) {
		r.guessed = true
		return said{results: one(Chat, weak, Entities{}, "a quotation"), guess: true}
	}
	if r.isAnswer(f.span) && !(r.spoke && r.context.Open == nil && r.command(f.span) != nil) {
		return r.answered(f.span)
	}
	if r.at(f.lo, f.hi, fIf) > 0 {
		return said{results: one(Chat, asked, Entities{}, "a condition")}
	}
	if r.asksHelp(f.span) || r.startsQuestion(f) {
		return said{results: r.question(f.span)}
	}
	e, n := r.verb(f.lo, f.hi)
	switch {
	case asks && e.class == vNeed:
		return said{results: r.question(f.span)}
	case r.at(f.lo, f.hi, rNot) > n:
		if ref := r.contrasted(f.span); ref != nil && r.context.Open == nil {
			if r.previous != "" {
				return said{results: one(r.previous, 0.5, Entities{Reference: &ref.Reference}, "another one than before was meant")}
			}
			return said{results: one(Choose, weak, Entities{Reference: &ref.Reference}, "a task instead of another, without what to do with it")}
		}
		return said{results: r.refuse()}
	}
	out, stated := r.wanted(f, e, n, asks)
	if stated {
		return said{results: out, stated: true}
	}
	if f.wished && out == nil && r.lex.last {
		out = r.wish(f.span)
	}
	switch {
	case out != nil:
		return said{results: r.moderate(out, f, asks)}
	case asks && !f.wished:
		return said{results: r.question(span{f.lo, f.hi})}
	case f.negated:
		return said{results: r.refuse()}
	}
	return r.uncommanded(s, f)
}

// uncommanded reads a clause that asks for nothing by itself.
func (r *reader) uncommanded(s span, f front) said {
	told := r.told || r.at(f.lo, f.hi, fPerfect) > 0
	out := r.statement(f.span)
	if out == nil {
		out = r.toList(f.span)
	}
	if out == nil && (!r.lex.last || r.has(f.span, rNot) < 0) && (r.endsErrand(f.span) || r.beginsErrand(f.span)) && r.heads(f.span) == nil && r.at(f.lo, f.hi, tParticle) == 0 {
		out = r.added(f.span, false, implied, "a thing to do, in so many words")
	}
	if out != nil {
		if ref := out[0].Entities.Reference; f.greeted && len(out) == 1 && out[0].Confidence < implied && (ref == nil || ref.It) { // "good night, I'm done"
			return said{results: one(Chat, weak, Entities{}, "a greeting, and nothing that is named")}
		}
		if f.hedged {
			doubt(out, weak)
		}
		return said{results: out, past: told, stated: out[0].Intent != Create}
	}
	if out = r.followUp(s); out != nil {
		return said{results: out}
	}
	return said{results: r.bareWords(f.span), guess: true}
}

// wanted reads a clause as a command, in one of its forms. stated: it is a statement instead.
func (r *reader) wanted(f front, e entry, n int, asks bool) (out []Result, stated bool) {
	for _, read := range []func() []Result{
		func() []Result { return r.followUpLong(f) },
		func() []Result { return r.shouldBe(f.span) },
		func() []Result { return r.instead(f.span) },
		func() []Result { return r.timeAdded(f.span, e, n) },
		func() []Result { return r.quotedOnto(f) },
	} {
		if out = read(); out != nil {
			return out, false
		}
	}
	clausal := r.at(f.lo, f.hi, fClausal) >= max(1, n) && r.has(f.span, fAsking) < 0 && r.has(span{f.lo + 1, f.hi}, fIf, fBe, tLink) >= 0
	if clausal && !asks { // "check if the laundry is done"
		out = r.added(f.span, false, implied, "a thing to do, in so many words")
	}
	if out == nil && e.class >= vErrand && r.saysDone(f.span) {
		if out = r.doneState(f.span); out != nil {
			return out, true
		}
	}
	if out == nil && f.wished {
		out = r.newTask(f.span)
	}
	if out == nil {
		out = r.command(f.span)
	}
	return out, false
}

// asksHelp says that a part asks for help; "help mom" does not.
func (r *reader) asksHelp(s span) bool {
	n := r.at(s.lo, s.hi, fHelp)
	return n > 1 || n == 1 && (s.hi-s.lo == 1 || r.at(s.lo+1, s.hi, fMe, tWith) > 0 || !r.isErrand(s))
}

// wish reads "ich möchte Milch kaufen": what a person wants to do and is no command is a task.
func (r *reader) wish(s span) []Result {
	if at, from := r.destination(s); at > s.lo && !from { // "ich hätte gern X auf der Liste"
		return r.added(span{s.lo, at}, false, likely, "something for the list")
	}
	if r.endsErrand(s) {
		return r.added(s, false, implied, "something that is to be done")
	}
	return nil
}

// moderate makes a command less sure that is asked, hedged or negated.
func (r *reader) moderate(out []Result, f front, asks bool) []Result {
	first := out[0]
	if f.negated || r.negated(f.span, first) {
		return r.refuse()
	}
	if f.polite && first.Entities.Reference == nil && first.Entities.Title == "" && first.Intent != List && r.has(f.span, rTasks) >= 0 {
		return one(Help, asked, Entities{}, "a question about what can be done")
	}
	if asks && !f.polite && !f.wished {
		doubt(out, asked)
	}
	if f.hedged || first.Intent != Create && first.Entities.Title == "" && r.has(f.span, fHedge) >= 0 {
		doubt(out, weak)
	}
	return out
}

// negated says that a command is turned into its contrary by a word within: "lösch das nicht".
func (r *reader) negated(s span, c Result) bool {
	s = r.trimEnd(s, tEnding, fFiller)
	i := r.has(s, rNot)
	if i < 0 || r.at(i, s.hi, tUndone) > 0 || r.at(i, s.hi, vRemind) > 0 {
		return false
	}
	k := i + r.at(i, s.hi, rNot)
	last := k >= s.hi-1 // at the end, or before a particle or infinitive
	switch c.Intent {
	case Create:
		return r.lex.last && last && c.Entities.Title == "" || r.lex.last && k == s.hi-1 && r.heldParticle(s)
	case Update:
		return r.lex.last && last && c.Entities.Status == ""
	case Delete, Complete:
		return r.lex.last && (last || c.Entities.Reference != nil && c.Entities.Reference.Title == "")
	}
	return false
}

// heldParticle says that a part begins with a split verb.
func (r *reader) heldParticle(s span) bool { return r.at(s.lo, s.hi, tParticle) > 0 }

// refuse is what a negated command says: no, where something was asked.
func (r *reader) refuse() []Result {
	if r.context.Open != nil {
		return one(Decline, clear, Entities{}, "a command that is negated")
	}
	return one(Chat, asked, Entities{}, "a command that is negated")
}

// startsQuestion says that a clause begins as a question, and not as a request.
func (r *reader) startsQuestion(f front) bool {
	if f.polite {
		return false
	}
	n := r.at(f.lo, f.hi, fAsking)
	if last := r.trimEnd(f.span, tEnding).hi; n > 0 && r.at(f.lo, f.hi, fPerfect) >= n && !r.sign(f.hi, "?") && r.before(f.lo, last, tDone) > 0 {
		return false // "hab ich schon gemacht"
	}
	if _, v := r.verb(f.lo, f.hi); n > 0 && n >= v {
		return true
	}
	k := r.at(f.lo, f.hi, fAux)
	if ref, end := r.exact(span{f.lo + k, f.hi}); k > 0 && !r.sign(f.hi, "?") && ref != nil && ref.It && end > f.lo+k+1 && r.pastAt(f.lo, f.hi) > 0 && r.skip(end, f.hi, fToo, tAlready, fFiller) == f.hi {
		return false // "did that one too"
	}
	return k > 0 && r.at(f.lo+k, f.hi, fSubject, rTask, rTasks) > 0
}

// acts says that a result asks for something to be done.
func acts(x Result) bool {
	return x.Intent != Chat && x.Intent != Choose && x.Intent != Confirm && x.Intent != Decline
}

// again says that a clause asks once more for what the one before it asked of "it": "I sent that one, mark it as complete".
func again(before, x Result) bool {
	a, b := before.Entities.Reference, x.Entities.Reference
	return x.Intent == Complete && before.Intent == Complete && a != nil && b != nil && a.It && b.It
}

// combine makes one list of what the clauses say: guesses and talk beside commands say nothing.
func (r *reader) combine(all []said) []Result {
	var out []Result
	firm := slices.ContainsFunc(all, func(c said) bool { return !c.guess && slices.ContainsFunc(c.results, acts) })
	for i, c := range all {
		for _, x := range c.results {
			if x.Intent == Decline && i > 0 {
				out = nil // what comes before is taken back
			}
			unasked := r.context.Open == nil && x.Intent == Decline && i < len(all)-1
			if firm && (c.guess || x.Intent == Chat || x.Intent == Confirm || x.Intent == Choose || unasked) {
				continue
			}
			if n := len(out); n > 0 && again(out[n-1], x) {
				continue
			}
			out = append(out, x)
		}
	}
	if firm {
		r.guessed = false
	}
	if r.context.Open != nil { // a yes among other words is none
		for i, x := range out {
			if x.Intent == Confirm {
				out[i] = one(Chat, weak, Entities{}, "a yes with something else")[0]
			}
		}
	}
	if len(out) == 0 {
		for _, c := range all {
			out = append(out, c.results...)
		}
	}
	if len(out) == 0 {
		r.guessed = true
		return one(Chat, asked, Entities{}, "no words")
	}
	if !firm && len(out) > 1 {
		best := out[0]
		for _, x := range out[1:] {
			if best.Intent == Chat && x.Intent != Chat || x.Intent == Decline {
				best = x
			}
		}
		return []Result{best}
	}
	return out
}
