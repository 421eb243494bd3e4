package digest

import (
	"slices"
	"strings"
)

// questions finds what the person asked and nothing later answers.
func (l *language) questions(t talk) []finding {
	answers := l.answers(t)
	var found []finding
	for i, s := range t.sentences {
		if !l.isQuestion(s) || l.isReplied(t, i) || answers.to(l, t, i) {
			continue
		}
		found = append(found, finding{at: i})
	}
	return distinct(t, found)
}

// isQuestion says whether a sentence asks, directly or not.
func (l *language) isQuestion(s sentence) bool {
	if l.isUnknown(s.tokens) {
		return true
	}
	starts := l.words["asks"].At(s.tokens, 0) > 0
	if !s.asked {
		return starts && !s.stated && countWords(s.tokens) >= 4 // a statement may begin with “what” too, and who writes full stops writes question marks
	}
	if len(s.stems) == 0 {
		return false
	}
	return starts || !l.isTagged(s.tokens) || l.words["interrogative"].At(s.tokens, 0) > 0
}

// isUnknown says whether a person says that they do not know something: “não sei se”, “I wonder”.
func (l *language) isUnknown(list []token) bool {
	leaves := l.words["interrogative"].At(list, 0) > 0 // “how long that lasts, nobody knows”
	for i := range list {
		if leaves && i > 2 && l.words["ignorance"].At(list, i) == len(list)-i {
			return true
		}
		if l.words["wondering"].At(list, i) > 0 && i+3 < len(list) {
			return true
		}
		n := l.words["ignorance"].At(list, i)
		if n == 0 {
			continue
		}
		for skip := range 3 { // “ainda não sei bem se”, “mal sehen, ob”
			if at := i + n + skip; l.words["interrogative"].At(list, at) > 0 && at+2 < len(list) {
				return true
			}
		}
	}
	return false
}

// isTagged says whether only the tag of a statement asks: “…, né?”
func (l *language) isTagged(list []token) bool {
	for i := max(0, len(list)-4); i < len(list); i++ {
		if n := l.words["tags"].At(list, i); n > 0 && i+n == len(list) && i > 0 {
			return true
		}
	}
	return false
}

// isReplied says whether the next sentence begins with yes or no.
func (l *language) isReplied(t talk, i int) bool {
	if i+1 >= len(t.sentences) || t.sentences[i+1].entry != t.sentences[i].entry {
		return false
	}
	next := t.sentences[i+1]
	n := l.words["reply"].At(next.tokens, 0)
	marked := n < len(next.tokens) && !next.tokens[n].Word
	return n > 0 && (t.sentences[i].asked || marked || n == len(next.tokens)) && l.words["no reply"].At(next.tokens, 0) == 0 && !l.isUnknown(next.tokens)
}

// assertions are the sentences that may answer a question, by their stems.
type assertions map[string][]int

// mostHolding is how many sentences of a stem are looked at: one that stands in more says nothing.
const mostHolding = 60

func (l *language) answers(t talk) assertions {
	by := assertions{}
	for i, s := range t.sentences {
		if l.isQuestion(s) {
			continue
		}
		for _, stem := range s.stems {
			if len(by[stem]) < mostHolding {
				by[stem] = append(by[stem], i)
			}
		}
	}
	return by
}

// enough is the share of the words of a question that its answer takes up.
const enough = 0.6

// to says whether a later sentence takes up what a question is about. One that asks how much or when is answered by a figure alone.
func (a assertions) to(l *language, t talk, i int) bool {
	asked := t.sentences[i]
	shared := map[int]int{}
	for _, stem := range asked.stems {
		for _, at := range a[stem] {
			if at > i {
				shared[at]++
			}
		}
	}
	amount := l.words["amount asked"].Has(asked.tokens)
	for at, n := range shared {
		said := t.sentences[at]
		near := at-i <= 3 && said.entry == asked.entry
		if float64(n) >= enough*float64(len(asked.stems)) && (n >= 2 || near || amount) && (!amount || len(said.figures) > 0) {
			return true
		}
	}
	return false
}

// decisions finds what the person decided or means to do.
func (l *language) decisions(t talk, asked map[int]bool) []finding {
	var found []finding
	for i, s := range t.sentences {
		if asked[i] || l.isQuestion(s) {
			continue
		}
		if at, n := l.decides(s.tokens); n > 0 {
			found = append(found, finding{at: i, word: l.said(t, i, at, n)})
		}
	}
	return distinct(t, found)
}

// decides finds the words that make a sentence a decision.
func (l *language) decides(list []token) (at, n int) {
	if l.words["unreal"].Has(list) {
		return 0, 0
	}
	if at, n = l.words["decided"].In(list); n > 0 && at+n < len(list) {
		return at, n
	}
	for i := range list {
		if n := l.words["intent"].At(list, i); n > 0 && l.acts(list, i+n) && !l.isReported(list, i) {
			return i, n
		}
	}
	return 0, 0
}

// isReported says whether what begins at i is what somebody else is said to think, or describes a thing: “she thinks we should”, “all I have to do”.
func (l *language) isReported(list []token, i int) bool {
	if l.words["objects"].At(list, i-1) > 0 {
		return true
	}
	for i--; i >= 0 && (list[i].Norm == "," || slices.Contains([]string{"que", "that", "dass"}, list[i].Norm)); i-- {
	}
	return l.words["reports"].At(list, i) > 0
}

// acts says whether an act follows what announces one. German has the verb at the end.
func (l *language) acts(list []token, at int) bool {
	if l.code == "de" {
		for i := at; i < len(list); i++ {
			if l.words["idle"].At(list, i) > 0 {
				return false
			}
		}
		return l.words["act"].At(list, len(list)-1) > 0 || at+2 < len(list) && l.hasAct(list[at:])
	}
	for at < len(list) && l.words["between"].At(list, at) > 0 {
		at += l.words["between"].At(list, at)
	}
	return l.words["idle"].At(list, at) == 0 && l.words["act"].At(list, at) > 0
}

// hasAct says whether a verb in its full form stands before the end of a clause.
func (l *language) hasAct(list []token) bool {
	for i, t := range list {
		if (t.Norm == "," || i+1 == len(list)) && i > 0 && l.words["act"].At(list, i-1) > 0 {
			return true
		}
	}
	return false
}

// said is a part of a sentence, verbatim.
func (l *language) said(t talk, i, at, n int) string {
	s := t.sentences[i]
	return span(t.entries[s.entry].Text, s.tokens[at:at+n])
}

// claims finds statements that a word makes strong, with neither a reason nor a figure beside them.
func (l *language) claims(t talk, asked, decided map[int]bool) []finding {
	var found []finding
	for i, s := range t.sentences {
		if asked[i] || decided[i] || s.asked || l.isQuestion(s) || countWords(s.tokens) < 4 || countWords(s.tokens) < 6 && len(s.stems) < fewestMeant {
			continue
		}
		if why, at, n := l.strength(s.tokens); n > 0 && !l.isSupported(t, i) {
			found = append(found, finding{at: i, why: why, word: l.said(t, i, at, n)})
		}
	}
	return distinct(t, found)
}

// strength finds the word that makes a sentence a claim, and which kind of claim.
func (l *language) strength(list []token) (why string, at, n int) {
	quiet := make([]bool, len(list)+1)
	for i := range list {
		for j := range l.words["quiet"].At(list, i) {
			quiet[i+j] = true
		}
	}
	for i := range list {
		if quiet[i] || i > 0 && l.words["negation"].At(list, i-1) > 0 {
			continue
		}
		for _, kind := range []string{"certain", "superlative", "universal", "causal"} {
			if n := l.words[kind].At(list, i); n > 0 && !l.isFrequency(list, i+n) {
				return kind, i, n
			}
		}
		if n := l.words["universal first"].At(list, i); n > 0 && l.beginsClause(list, i) && !l.isFrequency(list, i+n) {
			return "universal", i, n
		}
		if n := l.words["than"].At(list, i); n > 0 && !l.words["taste"].Has(list) {
			for back := i - 1; back >= 0 && back >= i-4 && list[back].Word; back-- {
				if l.words["compared"].At(list, back) > 0 && !quiet[back] && (back == 0 || l.words["negation"].At(list, back-1) == 0) {
					return "compared", back, i + n - back
				}
			}
		}
	}
	return "", 0, 0
}

// isFrequency says whether a unit of time follows, so that “every” counts time and no cases: “todos os dias”, “alle zwei Wochen”.
func (l *language) isFrequency(list []token, at int) bool {
	for i := at; i < min(at+2, len(list)) && list[i].Word; i++ {
		if l.words["time"].At(list, i) > 0 || l.words["weekday"].At(list, i) > 0 || l.words["month"].At(list, i) > 0 {
			return true
		}
	}
	return false
}

func (l *language) beginsClause(list []token, i int) bool {
	return i == 0 || !list[i-1].Word || slices.Contains([]string{"que", "that", "dass", "e", "and", "und", "mas", "but", "aber"}, list[i-1].Norm)
}

// isSupported says whether a reason or a figure stands in a claim or beside it.
func (l *language) isSupported(t talk, i int) bool {
	s := t.sentences[i]
	if measured(s) || l.words["reason"].Has(s.tokens) {
		return true
	}
	for _, at := range []int{i - 1, i + 1} {
		if at < 0 || at >= len(t.sentences) || t.sentences[at].entry != s.entry {
			continue
		}
		beside := t.sentences[at]
		if measured(beside) && shares(s.stems, beside.stems) > 0 || at > i && l.words["reason"].At(beside.tokens, 0) > 0 {
			return true
		}
	}
	return false
}

// measured says whether a sentence has a figure that may support something, which dates do not.
func measured(s sentence) bool {
	return slices.ContainsFunc(s.figures, func(q quantity) bool { return !slices.Contains([]string{date, clock, year}, q.kind) })
}

// shares counts the stems that two lists have in common.
func shares(a, b []string) int {
	n := 0
	for _, stem := range a {
		if slices.Contains(b, stem) {
			n++
		}
	}
	return n
}

// same says whether two sentences have nearly the same stems.
func same(a, b []string) bool {
	n := shares(a, b)
	return n > 0 && float64(n) >= 0.7*float64(len(a)+len(b)-n) || strings.Join(a, " ") == strings.Join(b, " ")
}

// sayAlike says whether quantities were said in the same words.
func sayAlike(a, b []quantity) bool {
	return slices.EqualFunc(a, b, func(p, q quantity) bool { return p.text == q.text })
}

// mostBefore is how many findings a new one is held against.
const mostBefore = 20

// distinct leaves out what was said before in nearly the same words, among the nearest findings.
func distinct(t talk, found []finding) []finding {
	var kept []finding
	for _, f := range found {
		if !slices.ContainsFunc(kept[max(0, len(kept)-mostBefore):], func(k finding) bool {
			return same(t.sentences[k.at].stems, t.sentences[f.at].stems) && sayAlike(t.sentences[k.at].figures, t.sentences[f.at].figures)
		}) {
			kept = append(kept, f)
		}
	}
	return kept
}
