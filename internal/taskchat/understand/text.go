package understand

import (
	"slices"
	"strings"
)

// text is a message as one language sees it.
type text struct {
	src    string
	tokens []token
	lex    *lexicon
	shown  int       // tasks in the last list shown
	found  [][]entry // the entries that begin at each token, the longest first
}

// span is a part of a text: tokens lo to hi-1.
type span struct{ lo, hi int }

func (s span) empty() bool { return s.lo >= s.hi }

func newText(src string, tokens []token, l *lexicon) *text {
	tokens = l.withoutHesitation(tokens)
	if l.order != nil {
		tokens = l.order(l, src, tokens)
	}
	t := &text{src: src, tokens: tokens, lex: l, found: make([][]entry, len(tokens))}
	for i, tok := range tokens {
		if tok.quoted || l.foreign(src[tok.start:tok.end]) {
			continue
		}
		for _, e := range l.entries[tok.norm] {
			if e.matches(tokens[i:]) && t.heads(e, i) && (e.exact == "" || e.exact == strings.ToLower(src[tok.start:tok.end])) {
				t.found[i] = append(t.found[i], e)
			}
		}
		if len(t.found[i]) == 0 && tok.kind == word && !l.known(tok.norm) {
			t.found[i] = l.misspelt(tok.norm, tokens[i:])
		}
	}
	t.gerunds()
	return t
}

// withoutHesitation takes away what only fills the time until the next word. Titles are cut from the source, and keep it.
func (x *lexicon) withoutHesitation(tokens []token) []token {
	var kept []token
	for i, tok := range tokens {
		hesitates := !tok.quoted && tok.kind == word && slices.ContainsFunc(x.entries[tok.norm], func(e entry) bool { return e.class == fUhm })
		if hesitates && kept == nil {
			kept = append(make([]token, 0, len(tokens)), tokens[:i]...)
		} else if !hesitates && kept != nil {
			kept = append(kept, tok)
		}
	}
	if kept == nil {
		return tokens
	}
	for i := range kept {
		kept[i].index = i
	}
	return kept
}

// gerunds reads "would you mind adding milk and deleting the first" as its verbs.
func (t *text) gerunds() {
	asked := false
	for i := range t.tokens {
		if e, n := t.entry(i, len(t.tokens), fAsk); n > 0 && e.value == takesGerund {
			asked = true
			t.gerund(i + n)
		} else if k := t.at(i, len(t.tokens), rAnd, tThen); k > 0 && asked {
			t.gerund(i + k)
		}
	}
}

// takesGerund is the value of requests that a gerund follows: "would you mind".
const takesGerund = 1

// gerund reads the token of a gerund as the verb that it is made of.
func (t *text) gerund(i int) {
	if i >= len(t.tokens) || t.tokens[i].quoted {
		return
	}
	stem, ok := strings.CutSuffix(t.tokens[i].norm, "ing")
	if !ok || len(stem) < 2 {
		return
	}
	for _, w := range []string{stem, stem + "e", stem[:len(stem)-1]} {
		var list []entry
		for _, e := range t.lex.entries[w] {
			if e.class < lastVerb && e.class != vNeed && e.matches(t.tokens[i:]) || e.class == tParticle {
				list = append(list, e)
			}
		}
		if list != nil {
			t.found[i] = list
			return
		}
	}
}

// heads says that an entry at a token is no noun that makes a task only before a colon: "task: buy milk", not "task 2".
func (t *text) heads(e entry, i int) bool {
	return e.class != vCreate || e.value != nounVerb || t.sign(i+1+len(e.rest), ":", "-", "->")
}

// foreign says that a word has a letter that the language does not know.
func (x *lexicon) foreign(w string) bool {
	switch x.code {
	case "de":
		return strings.ContainsAny(w, "áàâãéêíóôõúçÁÀÂÃÉÊÍÓÔÕÚÇ")
	case "pt":
		return strings.ContainsAny(w, "äöüßÄÖÜ")
	}
	return strings.ContainsAny(w, "áàâãéêíóôõúçäöüßÁÀÂÃÉÊÍÓÔÕÚÇÄÖÜ")
}

// entry returns the longest entry of the classes at a token, which ends before hi.
func (t *text) entry(i, hi int, classes ...class) (e entry, n int) {
	if i < 0 || i >= hi || i >= len(t.tokens) {
		return entry{}, 0
	}
	for _, e := range t.found[i] {
		if i+1+len(e.rest) > hi {
			continue
		}
		for _, c := range classes {
			if e.class == c {
				return e, 1 + len(e.rest)
			}
		}
	}
	return entry{}, 0
}

// at is the length of the longest word or phrase of the classes at a token; 0: there is none.
func (t *text) at(i, hi int, classes ...class) int {
	_, n := t.entry(i, hi, classes...)
	return n
}

// before is the length of the longest word or phrase of the classes that ends before hi.
func (t *text) before(lo, hi int, classes ...class) int {
	for i := max(lo, hi-6); i < hi; i++ {
		for _, e := range t.found[i] {
			if i+1+len(e.rest) != hi {
				continue
			}
			for _, c := range classes {
				if e.class == c {
					return hi - i
				}
			}
		}
	}
	return 0
}

// has finds the first word or phrase of the classes in a part; -1: there is none.
func (t *text) has(s span, classes ...class) int {
	for i := s.lo; i < s.hi; i++ {
		if t.at(i, s.hi, classes...) > 0 {
			return i
		}
	}
	return -1
}

func (t *text) sign(i int, list ...string) bool {
	if i < 0 || i >= len(t.tokens) || t.tokens[i].kind != sign {
		return false
	}
	for _, s := range list {
		if t.tokens[i].norm == s {
			return true
		}
	}
	return false
}

// verb returns the verb at a token: the longest phrase, and of a word in several classes the first.
func (t *text) verb(i, hi int) (e entry, n int) {
	if i >= hi {
		return entry{}, 0
	}
	for _, e := range t.found[i] {
		if e.class < lastVerb && i+1+len(e.rest) <= hi {
			return e, 1 + len(e.rest)
		}
	}
	return entry{}, 0
}

// trim takes words of the classes, and signs, from both ends.
func (t *text) trim(s span, classes ...class) span {
	return t.trimEnd(t.trimStart(s, classes...), classes...)
}

func (t *text) trimStart(s span, classes ...class) span {
	for !s.empty() {
		switch n := t.at(s.lo, s.hi, classes...); {
		case n > 0:
			s.lo += n
		case t.sign(s.lo, ",", ".", "!", "?", ":", ";", "\n", "-", "("):
			s.lo++
		default:
			return s
		}
	}
	return s
}

// skipSigns goes over words of the classes, and signs.
func (t *text) skipSigns(s span, classes ...class) int { return t.trimStart(s, classes...).lo }

func (t *text) trimEnd(s span, classes ...class) span {
	for !s.empty() {
		switch n := t.before(s.lo, s.hi, classes...); {
		case n > 0:
			s.hi -= n
		case t.sign(s.hi-1, ",", ".", "!", "?", ":", ";", "\n", "-"):
			s.hi--
		default:
			return s
		}
	}
	return s
}

// raw is a part as it was written, its spaces made single.
func (t *text) raw(s span) string {
	if s.empty() {
		return ""
	}
	part := slices.Clone(t.tokens[s.lo:s.hi])
	slices.SortFunc(part, func(a, b token) int { return a.index - b.index })
	var words []string
	for lo, i := 0, 0; i < len(part); i++ { // the words that stand together in the message
		if i+1 == len(part) || part[i+1].index != part[i].index+1 {
			words = append(words, strings.Fields(t.src[part[lo].start:part[i].end])...)
			lo = i + 1
		}
	}
	return strings.Join(words, " ")
}

// isQuoted says that a part is one quotation.
func (t *text) isQuoted(s span) bool {
	if s.hi-s.lo < 3 || !t.sign(s.lo, `"`, "'") || !t.sign(s.hi-1, `"`, "'") {
		return false
	}
	for i := s.lo; i < s.hi; i++ {
		if !t.tokens[i].quoted || i > s.lo && i < s.hi-1 && t.sign(i, t.tokens[s.lo].norm) {
			return false
		}
	}
	return true
}

// unquoted takes the quotation marks from a part that is one quotation.
func (t *text) unquoted(s span) span {
	if t.isQuoted(s) {
		return span{s.lo + 1, s.hi - 1}
	}
	return s
}

// words counts the words and numbers of a part.
func (t *text) words(s span) (n int) {
	for i := s.lo; i < s.hi; i++ {
		if k := t.tokens[i].kind; k == word && t.tokens[i].norm != "'s" || k == number {
			n++
		}
	}
	return n
}

// cased says whether the message uses capitals, so that a small letter means something.
func (t *text) cased() bool {
	for i, tok := range t.tokens {
		if i > 0 && tok.kind == word && t.capital(i) {
			return true
		}
	}
	return false
}

func (t *text) capital(i int) bool {
	w := t.src[t.tokens[i].start:t.tokens[i].end]
	return strings.ToLower(w[:1]) != w[:1] || len(w) > 1 && w[0] >= 0xC3 && strings.ToLower(w[:2]) != w[:2]
}
