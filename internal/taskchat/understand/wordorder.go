package understand

import (
	"slices"
	"strings"
)

// order brings what a language says in several orders into the one that the rules know: the verb first, or the words of asking, then what it is done
// to. Tokens change their places and, of inflected verbs, their norms; what they say in the message stays.
type order struct {
	*lexicon
	src string
}

// germanOrder reads the clauses of a German message: "Löschen Sie …", "löschst du …", "… kannst du löschen", "…, dass du … löschst", "… habe ich".
func germanOrder(x *lexicon, src string, tokens []token) []token {
	o := order{x, src}
	tokens = o.withoutCommas(slices.Clone(tokens))
	var out []token
	for lo := 0; lo < len(tokens); {
		hi := lo
		for hi < len(tokens) && (tokens[hi].kind != sign || tokens[hi].quoted || tokens[hi].norm == "-" || tokens[hi].norm == "#") {
			hi++
		}
		out = append(out, o.clause(tokens[lo:hi])...)
		for ; hi < len(tokens) && tokens[hi].kind == sign && !tokens[hi].quoted && tokens[hi].norm != "#"; hi++ {
			out = append(out, tokens[hi])
		}
		lo = hi
	}
	return out
}

// withoutCommas drops the comma between words of asking and what is asked for, and between a wish and "dass du".
func (o order) withoutCommas(tokens []token) []token {
	for i := 1; i+2 < len(tokens); i++ {
		if tokens[i].kind != sign || tokens[i].norm != "," || tokens[i].quoted {
			continue
		}
		that := slices.Contains([]string{"dass", "das", "wenn", "ob"}, tokens[i+1].norm) && o.isYou(tokens[i+2])
		if o.lists(tokens[:i]) && o.length(tokens[i+1:], fAsking) > 0 || that && i <= 6 && (o.length(tokens[o.start(tokens[:i]):i], fAsk, fWish) > 1 || o.endsWith(tokens[:i], fTalk) > 0) || o.endsWith(tokens[:i], fAsk) > 0 {
			tokens = slices.Delete(tokens, i, i+1)
		}
	}
	return tokens
}

// lists says that tokens are nothing but "sag mal", "zeig mir".
func (o order) lists(c []token) bool {
	n := o.length(c, vList)
	for n > 0 && n < len(c) && o.length(c[n:], fMe, fFiller) > 0 {
		n++
	}
	return n > 0 && n == len(c)
}

// joined puts a verb's second part beside it: "soll X heißen", "steht heute an", "aus der zweiten mach X", "bin für heute fertig".
func (o order) joined(c []token) []token {
	last := len(c) - 1
	if last < 2 {
		return c
	}
	pairs := map[string][]string{"heissen": {"soll", "sollte", "sollen", "muss"}, "lauten": {"soll", "sollte"}, "sein": {"soll", "sollte"}, "an": {"steht", "liegt", "stehen", "liegen"}}
	for i := range last - 1 {
		switch w := c[i].norm; {
		case c[i].quoted, c[last].quoted && c[0].norm != "aus":
		case slices.Contains(pairs[c[last].norm], w):
			return slices.Insert(c[:last], i+1, c[last])
		case i > 0 && c[0].norm == "aus" && (w == "mach" || w == "mache"):
			return append([]token{c[i]}, slices.Delete(slices.Clone(c), i, i+1)...)
		case i <= 2 && strings.HasPrefix(w, "brauch") && i+3 < last && c[last].norm == "mehr" && c[last-1].norm == "nicht":
			return slices.Insert(slices.Clone(c[:last-1]), i+1, c[last-1], c[last])
		case w == "bin" && o.length(c[last:], tDone) == 1 && i+1+o.length(c[i+1:], fClosing) == last:
			return slices.Insert(c[:last], i+1, c[last])
		}
	}
	return c
}

func (o order) isYou(t token) bool { return t.norm == "du" || t.norm == "ihr" || t.norm == "sie" }

// clause reads the tokens between two signs.
func (o order) clause(c []token) []token {
	if len(c) < 2 {
		return c
	}
	c = o.joined(o.asked(c))
	start := o.start(c)
	c = o.addressed(c, start)
	c = o.withYou(c)
	c = o.fronted(c, start)
	start = o.start(c)
	c = o.afterVerb(c, start)
	return o.beforeEnd(c, start)
}

// start is the first token that is no filler and no connector.
func (o order) start(c []token) int {
	i := 0
	for i < len(c)-1 && !c[i].quoted {
		n := o.length(c[i:], fFiller, rAnd, tThen)
		if n == 0 || i+n >= len(c) || o.length(c[i:], fAsk, fWish, fPerfect, vNeed) > n {
			break
		}
		i += n
	}
	return i
}

// length is that of the longest word or phrase of the classes at the beginning.
func (o order) length(c []token, classes ...class) (n int) {
	if len(c) == 0 || c[0].quoted {
		return 0
	}
	for _, e := range o.entries[c[0].norm] {
		if slices.Contains(classes, e.class) && e.matches(c) && len(e.rest) >= n {
			n = 1 + len(e.rest)
		}
	}
	return n
}

// endsWith is the length of a word or phrase of the classes at the end.
func (o order) endsWith(c []token, classes ...class) int {
	for i := max(0, len(c)-6); i < len(c); i++ {
		if n := o.length(c[i:], classes...); n == len(c)-i {
			return n
		}
	}
	return 0
}

// commands says whether a word is a verb of a command.
func (o order) commands(w string) bool {
	return slices.ContainsFunc(o.entries[w], func(e entry) bool {
		return e.class == tParticle || e.class < vErrand && e.class != vNeed && len(e.rest) == 0
	})
}

// stem is the imperative that an inflected verb belongs to; "" if that is no verb of a command.
func (o order) stem(w string, endings ...string) string {
	for _, ending := range endings {
		base, ok := strings.CutSuffix(w, ending)
		if !ok || len(base) < 2 {
			continue
		}
		for _, form := range []string{base, base + "e"} {
			if o.commands(form) || o.reminds(form) {
				return form
			}
		}
	}
	return ""
}

// infinitive is the one that a finite verb at the end of its clause belongs to: "hinzufügst"; "" if that is no verb of a command.
func (o order) infinitiveOf(w string) string {
	for _, ending := range []string{"est", "st", "et", "t"} {
		base, ok := strings.CutSuffix(w, ending)
		if !ok {
			continue
		}
		for _, vowel := range []string{"", "imm>ehm", "irf>erf", "aegt>ag", "ag>ag", "aess>ass"} { // du nimmst, wirfst
			from, to, _ := strings.Cut(vowel, ">")
			stem, ok := strings.CutSuffix(base, from)
			if ok && o.commands(stem+to+"en") {
				return stem + to + "en"
			}
		}
	}
	return ""
}

// asked reads "(ich möchte) dass du … löschst" and "wenn du … löschen könntest" as "kannst du … löschen".
func (o order) asked(c []token) []token {
	for i := 0; i+2 < len(c) && i < 7; i++ {
		that := c[i].norm
		if c[i].quoted || that != "dass" && that != "wenn" && that != "ob" || !o.isYou(c[i+1]) {
			continue
		}
		for k := range i { // "ich will nicht, dass du …"
			if o.length(c[k:], rNot) > 0 {
				return c
			}
		}
		wish := i > 0 && (o.endsWith(c[:i], fAsk, fTalk) > 0 || o.length(c[o.start(c):], fAsk, fWish) > 1)
		last := c[len(c)-1]
		if n := o.length(c[len(c)-1:], fCould); n > 0 && i+3 < len(c) {
			c = c[:len(c)-1]
		} else if verb := o.infinitiveOf(last.norm); verb == "" || !wish || last.kind != word || last.quoted {
			return c
		} else {
			c[len(c)-1].norm = verb
		}
		c[i].norm, c[i+1].norm = "kannst", "du"
		return c[i:]
	}
	return c
}

// addressed reads "löschen Sie X", "löschst du X?", "löscht X" as the imperative.
func (o order) addressed(c []token, i int) []token {
	if i+1 >= len(c) || c[i].kind != word || c[i].quoted {
		return c
	}
	w, next := c[i].norm, c[i+1]
	switch {
	case next.norm == "sie" && (strings.HasSuffix(w, "en") || strings.HasSuffix(w, "ern")) && o.commands(w) && !next.quoted:
		return slices.Delete(c, i+1, i+2)
	case (next.norm == "du" || next.norm == "ihr") && len(c) > i+2 && o.length(c[i:], fAsk, fAsking) == 0:
		verb := o.stem(w, "st", "t", "est", "et")
		if verb == "" || o.habit(c[i+2:], verb) || o.length([]token{{norm: verb}}, vErrand) > 0 && !o.ofTasks(c[i+2:], verb) {
			return c
		}
		c[i].norm, c[i+1].norm = verb, "kannste"
		c[i], c[i+1] = c[i+1], c[i]
	case len(o.entries[w]) == 0 && o.stem(w, "t", "et") != "", o.length(c[i:], fReport) > 0 && o.stem(w, "t") != "" && o.ofTasks(c[i+1:], o.stem(w, "t")):
		c[i].norm = o.stem(w, "t", "et")
	}
	return c
}

// habit says that a question is about tasks of some kind, not about some that there are: "löschst du alte Aufgaben?"
func (o order) habit(c []token, verb string) bool {
	for i := range c {
		if o.length(c[i:], rTasks) > 0 && o.length([]token{{norm: verb}}, vList) == 0 {
			return i == 0 || o.length(c[i-1:], rArticle, rAll, rBoth, rOrdinal, rNumber, tDone, tUndone) == 0
		}
	}
	return false
}

// ofTasks says that tokens speak of tasks or the list, or end with a particle of the verb.
func (o order) ofTasks(c []token, verb string) bool {
	last := c[len(c)-1].norm
	for _, e := range o.entries[verb] {
		if e.class == tParticle && o.pairs[e.value].particle == last {
			return true
		}
	}
	for i := range c {
		if o.length(c[i:], rTask, rTasks, rList, rOrdinal, rNumeroSign) > 0 {
			return true
		}
	}
	return false
}

// withYou makes "können Sie" what a request begins with out of "Sie können", which may also be said of others.
func (o order) withYou(c []token) []token {
	if len(c) > 2 && (c[0].norm == "sie" || c[0].norm == "ihr") && o.length([]token{c[1], c[0]}, fAsk) == 2 && o.commands(c[len(c)-1].norm) {
		c[0], c[1] = c[1], c[0]
	}
	return c
}

// fronted moves what stands before "kannst du" behind it, and what stands before "habe ich", "muss ich" behind "ich habe", "ich muss".
func (o order) fronted(c []token, from int) []token {
	if o.length(c[from:], fAsk, fAsking, fIf, fWish, fPerfect, fHelp, vNeed) > 0 || o.commands(c[from].norm) && !c[from].quoted && from+1 < len(c) &&
		o.length(c[from+1:], fAsk) == 0 {
		return c
	}
	for i := from + 1; i+2 < len(c); i++ {
		if c[i].quoted {
			continue
		}
		n, swap := 0, false
		switch {
		case o.length(c[i:], fCould) == 1 && o.length(c[i:], fAsk) >= 2:
			n = 2
		case c[i+1].norm == "ich" && slices.Contains([]string{"habe", "hab", "bin", "muss", "sollte", "musste"}, c[i].norm):
			n, swap = 2, true
		}
		if n == 0 {
			continue
		}
		moved := slices.Clone(c[:from])
		verb := slices.Clone(c[i : i+n])
		if swap {
			verb[0], verb[1] = verb[1], verb[0]
		}
		k := i + n
		for k+1 < len(c) && !c[k].quoted && o.length(c[k:], fFiller, tAlready) == 1 {
			k++
		}
		moved = append(moved, verb...)
		moved = append(moved, c[from:i]...)
		return append(moved, c[k:]...)
	}
	return c
}

// afterVerb drops the fillers behind the verb of a command: "setz doch bitte noch …".
func (o order) afterVerb(c []token, i int) []token {
	n := o.length(c[i:], fAsk)
	switch {
	case n > 0:
		i += n - 1
	case !o.commands(c[i].norm) && !o.reminds(c[i].norm) || c[i].quoted:
		return c
	}
	for i+2 < len(c) {
		switch next := c[i+1]; {
		case o.isFiller(next) && !o.isParticle(next.norm):
			c = slices.Delete(c, i+1, i+2)
		case next.quoted, o.length(c[i+1:], fMe) != 1 && (n == 0 || !o.commands(next.norm)):
			return c
		default:
			i, n = i+1, 0
		}
	}
	return c
}

// reminds says whether a word begins a request to be reminded.
func (o order) reminds(w string) bool {
	return slices.ContainsFunc(o.entries[w], func(e entry) bool { return e.class == vRemind })
}

func (o order) isFiller(t token) bool {
	return !t.quoted && o.length([]token{t}, fFiller) > 0
}

func (o order) isParticle(w string) bool {
	return slices.ContainsFunc(o.pairs, func(p pair) bool { return p.particle == w || strings.HasPrefix(p.particle, w+" ") })
}

// beforeEnd drops the fillers, "mit" and "dazu" before the particle or the infinitive that ends a command, and before "auf die Liste".
func (o order) beforeEnd(c []token, i int) []token {
	c = o.closed(c, i)
	if len(c) < 4 || !o.commands(c[i].norm) && o.length(c[i:], fAsk) == 0 {
		return c
	}
	for k := i + 2; k < len(c); k++ {
		last := k == len(c)-1 && !c[k].quoted && (o.isParticle(c[k].norm) || o.commands(c[k].norm))
		list := o.length(c[k:], tOnto) > 0
		for (last || list) && k > i+1 && !c[k-1].quoted && !o.isParticle(c[k-1].norm+" "+c[k].norm) && (o.isFiller(c[k-1]) || c[k-1].norm == "mit" || c[k-1].norm == "dazu") {
			c = slices.Delete(c, k-1, k)
			k--
		}
	}
	return c
}

// closed moves the particle of a split verb to the end, from before a description or a further title: "leg X an mit der Beschreibung Y".
func (o order) closed(c []token, i int) []token {
	for _, e := range o.entries[c[i].norm] {
		if e.class != tParticle || c[i].quoted {
			continue
		}
		particle := o.pairs[e.value].particle
		for k := i + 2; k+2 < len(c); k++ {
			if c[k].quoted || c[k].norm != particle {
				continue
			}
			with, and := o.length(c[k+1:], tWith), o.length(c[k+1:], rAnd)
			described := with > 0 && (o.length(c[k+1+with:], tDesc) > 0 || k+3+with < len(c) && o.length(c[k+2+with:], tDesc) > 0)
			further := and > 0 && k+1+and < len(c) && !o.begins(c[k+1+and:])
			renamed := (o.pairs[e.value].class == vRename || o.pairs[e.value].class == vUpdate) && o.length(c[k+1:], tInto) > 0
			if described || further || renamed {
				moved := c[k]
				return append(slices.Delete(c, k, k+1), moved)
			}
		}
	}
	return c
}

// begins says that a command or a statement of its own begins.
func (o order) begins(c []token) bool {
	i := o.start(c)
	return o.commands(c[i].norm) && !c[i].quoted || o.length(c[i:], fAsk, fWish, fPerfect, vNeed, fAsking, vErrand, rTask, rOrdinal) > 0 ||
		o.endsWith(c, tDone) > 0 || o.commands(c[len(c)-1].norm) || o.isParticle(c[len(c)-1].norm)
}

// splitVerbs are verbs with their particles, as pairs for each form of the verb: "füg:hinzu,dazu" and, where the infinitive has another stem,
// "nimm/nehm:auf".
func splitVerbs(table string) string {
	var out []string
	for _, line := range strings.Fields(table) {
		verb, particles, _ := strings.Cut(line, ":")
		stem, infinitive, _ := strings.Cut(verb, "/")
		forms := []string{stem, stem + "e", stem + "en"}
		if infinitive != "" {
			forms = []string{stem, infinitive + "e", infinitive + "en"}
		}
		for _, particle := range strings.Split(particles, ",") {
			for _, form := range forms {
				out = append(out, form+"…"+particle)
			}
		}
	}
	return strings.Join(out, " ")
}

// joinedVerbs are the infinitives of the same verbs, with and without "zu": "hinzufügen", "hinzuzufügen".
func joinedVerbs(table string) string {
	var out []string
	for _, line := range strings.Fields(table) {
		verb, particles, _ := strings.Cut(line, ":")
		stem, infinitive, _ := strings.Cut(verb, "/")
		if infinitive == "" {
			infinitive = stem
		}
		for _, particle := range strings.Split(particles, ",") {
			end := infinitive + "en"
			if stem == "tu" {
				end = "tun"
			}
			joined := particle
			if strings.Contains(particle, "_") {
				joined += "_"
			}
			out = append(out, joined+end, joined+"zu"+end, particle+"_"+end, particle+"_zu_"+end)
		}
	}
	return strings.Join(out, " ")
}
