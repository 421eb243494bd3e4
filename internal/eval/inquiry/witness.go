package inquiry

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// Witness answers whatever it is asked, in the order in which it is asked. It is for one interrogation, by one goroutine.
type Witness interface {
	Answer(question string) string
}

// whether is the kind of a question that has no question word.
const whether = "whether"

// scripted is the witness of a case. It remembers what it said, so that what a detective finds can be compared with what was there to find.
type scripted struct {
	c     Case
	words []questionWord
	times []int    // how often each fact was told
	asked []string // the questions
	said  []utterance
}

// utterance is what one answer was made of.
type utterance struct {
	facts []int // of the script
	clash int   // of Case.clashing: the answer is the reply about both sides; -1: it is none
	again []int // of facts: told once more, in other words
}

func newWitness(c Case) *scripted {
	return &scripted{c: c, words: questionWords(c.Lang), times: make([]int, len(c.Witness.Facts))}
}

// Answer replies to a question about both sides of a clash, tells what it is asked for, or says what it says otherwise.
func (w *scripted) Answer(question string) string {
	w.asked = append(w.asked, question)
	if at := w.confronted(question); at >= 0 {
		w.said = append(w.said, utterance{clash: at})
		return w.reply(at)
	}
	u := utterance{clash: -1, facts: w.meant(question)}
	var parts []string
	for _, i := range u.facts {
		f := w.c.Witness.Facts[i]
		text := w.c.answer(f)
		switch {
		case w.times[i] > 0 && f.Again != "":
			text, u.again = f.Again, append(u.again, i)
		case w.times[i] > 0 && w.c.Flawless:
			text = w.c.Witness.Otherwise
		}
		w.times[i]++
		if !slices.Contains(parts, text) {
			parts = append(parts, text)
		}
	}
	w.said = append(w.said, u)
	if len(parts) == 0 {
		return w.c.Witness.Otherwise
	}
	return strings.Join(parts, " ")
}

func (w *scripted) reply(at int) string {
	if n := len(w.c.Contradictions); at >= n {
		return w.c.Traps[at-n].Reply
	}
	return w.c.Contradictions[at].Reply
}

// confronted is the clash whose two sides a question names, if both were told; of several the one with most words. -1 for none.
func (w *scripted) confronted(question string) int {
	best, most := -1, 0
	for at, pairs := range w.c.clashing() {
		words := w.clash(at)
		if size := len(words[0]) + len(words[1]); size > most && w.told(pairs[0]) && w.told(pairs[1]) &&
			names(question, words[0], w.c.Pairs[pairs[0]].Answer) && names(question, words[1], w.c.Pairs[pairs[1]].Answer) {
			best, most = at, size
		}
	}
	return best
}

func (w *scripted) clash(at int) [2]string {
	if n := len(w.c.Contradictions); at >= n {
		return w.c.Traps[at-n].Words
	}
	return w.c.Contradictions[at].Words
}

// told says whether the answer of a pair of the interview was given.
func (w *scripted) told(pair int) bool {
	for i, f := range w.c.Witness.Facts {
		if f.Pair == pair && w.times[i] > 0 {
			return true
		}
	}
	return false
}

// meant are the facts that answer a question: for each question word the one that fits best. None: the witness has nothing to say.
func (w *scripted) meant(question string) (facts []int) {
	for _, kind := range w.kindsOf(question) {
		best, rank := -1, 0
		for i, f := range w.c.Witness.Facts {
			if r := w.rank(f, i, kind, question); r > rank {
				best, rank = i, r
			}
		}
		if best >= 0 && !slices.Contains(facts, best) {
			facts = append(facts, best)
		}
	}
	return facts
}

// rank is how well a fact fits a question of a kind; 0: not at all. Open questions are answered by their subject, others by the kind first, and
// who quotes an answer asks about that one. A flawless witness tells all rather than something beside the point.
func (w *scripted) rank(f Fact, at int, kind, question string) int {
	hits, own := 0, unquoted(question)
	for _, begin := range f.About {
		if about(own, begin) {
			hits += 1 + w.only(begin)
		}
	}
	fits, open, cited := slices.Contains(f.Kind, kind), kind == "what" || kind == whether || kind == "how", w.cited(f, at, question)
	if !cited && (hits == 0 && (!fits || w.c.Flawless) || !fits && !open && (w.c.Flawless || hits < 3)) {
		return 0
	}
	r := 4 * hits
	if fits && open {
		r += 3
	} else if fits {
		r += 12
	}
	if cited {
		r += 14
	}
	switch {
	case w.times[at] == 0:
		r++
	case hits == 0 && w.last(at): // “when was that?” is about what was said just before
		r += 2
	}
	return r
}

// cited says whether a question quotes what was told: something in quotation marks, or several words in a row.
func (w *scripted) cited(f Fact, at int, question string) bool {
	if w.times[at] == 0 {
		return false
	}
	for _, text := range []string{w.c.answer(f), f.Again} {
		for _, quote := range quotations().FindAllString(question, -1) {
			if words := plain(quote); len(words) > 2 && strings.Contains(plain(text), words) {
				return true
			}
		}
		if repeats(question, text) {
			return true
		}
	}
	return false
}

// last says whether a fact was part of the last answer.
func (w *scripted) last(at int) bool {
	return len(w.said) > 0 && slices.Contains(w.said[len(w.said)-1].facts, at)
}

// only is 1 for a word that belongs to one fact alone: it tells more than those that belong to many.
func (w *scripted) only(begin string) int {
	facts := 0
	for _, f := range w.c.Witness.Facts {
		if slices.Contains(f.About, begin) {
			facts++
		}
	}
	if facts > 1 {
		return 0
	}
	return 1
}

// about says whether a question has a word that begins so, or in long words, as German joins them, goes on so.
func about(question, begin string) bool {
	begin = strings.ToLower(begin)
	for _, word := range wordsOf(question) {
		if strings.HasPrefix(word, begin) || len(begin) >= 5 && strings.Contains(word, begin) {
			return true
		}
	}
	return false
}

func wordsOf(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '.' && r != ',' && r != '-'
	})
}

// plain is a text in lower case with single spaces and no punctuation around words.
func plain(text string) string {
	words := wordsOf(text)
	for i, word := range words {
		words[i] = strings.Trim(word, ".,-")
	}
	return " " + strings.Join(words, " ") + " "
}

// run is how many words in a row a question has to repeat of an answer to name it.
const run = 4

// names says whether a question names what an answer said: by the words that clash, by their numbers, or by quoting the answer.
func names(question, words, answer string) bool {
	q := plain(question)
	if strings.Contains(q, plain(words)) {
		return true
	}
	var numbers []string
	for word := range strings.FieldsSeq(plain(words)) {
		if strings.ContainsFunc(word, unicode.IsDigit) {
			numbers = append(numbers, " "+word+" ")
		}
	}
	if len(numbers) > 0 && !slices.ContainsFunc(numbers, func(n string) bool { return !strings.Contains(q, n) }) {
		return true
	}
	return repeats(question, answer)
}

// repeats says whether a question repeats several words in a row of an answer.
func repeats(question, answer string) bool {
	q, said := plain(question), strings.Fields(plain(answer))
	for i := 0; i+run <= len(said); i++ {
		if strings.Contains(q, " "+strings.Join(said[i:i+run], " ")+" ") {
			return true
		}
	}
	return false
}

// kindsOf are the kinds of a question by its question words, outside of what it quotes.
func (w *scripted) kindsOf(question string) (kinds []string) {
	text := strings.ToLower(unquoted(question))
	for _, k := range w.words {
		found := k.words.FindStringIndex(text)
		if found == nil {
			continue
		}
		kinds = append(kinds, k.kind)
		text = k.words.ReplaceAllString(text, " , ")
	}
	if len(kinds) > 1 { // beside another question word these are mostly relative
		kinds = slices.DeleteFunc(kinds, func(k string) bool { return k == "what" })
	}
	if len(kinds) == 0 {
		return []string{whether}
	}
	return kinds
}

// unquoted is a question without what it quotes.
func unquoted(question string) string { return quotations().ReplaceAllString(question, " ") }

func quotations() *regexp.Regexp {
	return regexp.MustCompile(`“[^”]*”|„[^“”]*[“”]|"[^"]*"|‘[^’]*’|»[^«]*«|«[^»]*»`)
}

// questionWord is a kind of question with the words that ask it.
type questionWord struct {
	kind  string
	words *regexp.Regexp
}

// questionWords of a language, those of several words first: “how many” is no “how”.
func questionWords(lang string) []questionWord {
	// In the middle of a clause these words join what is told, and ask nothing: “what burned when the crew arrived?”
	const before = `(?:^|[^\pL\s]\s*|(?:\PL|^)(?:and|or|but|by|in|at|on|for|from|to|with|of|since|until|exactly|und|oder|aber|seit|von|mit|bis|ab|an|auf|aus|für|zu|bei|genau)\s+)`
	word := func(kind, words string) questionWord {
		return questionWord{kind, regexp.MustCompile(before + `(?:` + words + `)(?:\PL|$)`)}
	}
	if lang == "de" {
		return []questionWord{
			word("how_much", `wie ?(?:viele?[nrms]?|hoch|lang|lange|oft|groß|weit|alt|breit|tief|schnell|schwer)|welche[rmns]? (?:summe|menge|anzahl|zahl|betrag|preis|anteil)`),
			word("when", `wann|welche[rmns]? (?:tag|datum|jahr|monat|zeitpunkt|uhrzeit)|um wie ?viel uhr`),
			word("why", `warum|weshalb|wieso|wodurch|welche[rmns]? (?:grund|ursache)`),
			word("who", `wer|wem|wen|wessen|welche[rmns]? (?:person|personen|firma)`),
			word("where", `wo|woher|wohin|welche[rmns]? ort`),
			word("how", `wie|womit|welche weise`),
			word("what", `was|welche[rmns]?|woran|worin|worum|wovon|wofür|woraus`),
		}
	}
	return []questionWord{
		word("how_much", `how (?:much|many|long|often|high|large|big|far|old|wide|deep|fast|heavy)|what (?:amount|price|sum|share|number)`),
		word("when", `when|(?:what|which) (?:time|day|date|year|month)`),
		word("why", `why|(?:what|which) (?:reasons?|cause)`),
		word("who", `who|whom|whose|(?:which|what) (?:person|people|company|firm)`),
		word("where", `where|(?:which|what) (?:place|location)`),
		word("how", `how`),
		word("what", `what|which`),
	}
}
