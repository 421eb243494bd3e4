package sentence

import (
	"math"
	"slices"
	"strings"

	"sibyl/internal/text/search"
)

// Question is a question as its answer is looked for.
type Question struct {
	language string
	kind     kind
	measure  measure
	words    map[string]bool // all of the question, in lower case and without accents
	terms    []term          // what it is about
	context  []term          // what the talk is about
	total    float64         // weight of the terms
	thin     bool            // it says little by itself, so that the context says what it is about
	survey   bool            // it says nothing by itself, so that the terms are what it is about
	quoted   []string        // what it quotes
	earlier  []Exchange
	also     []Question // what it asks for beside that
}

// LanguageOf is the language, "en" or "de", in whose words a question asks when, where, who, how much or why; "" if it asks for none of these.
func LanguageOf(question string) string {
	plain, _ := unquote(question)
	asking := search.Words(lastQuestion(plain))
	for _, language := range []string{"en", german} {
		if k, _ := kindOf(asking, language); k != anything {
			return language
		}
	}
	return ""
}

// Thin says whether the question says little by itself.
func (q Question) Thin() bool { return q.thin }

// term is a word that the answer should have.
type term struct {
	word, stem string
	weight     float64
	content    bool              // it is a word of meaning and no name
	must       bool              // another name or number would be another matter
	single     bool              // it is a name of one letter
	weak       bool              // it says little, unless there is little else
	counted    bool              // the question asks how many of it there are
	likeness   map[int32]float64 // to words of the corpus
}

// How much words count, beside their rarity.
const (
	usualWeight   = 1.0
	genericWeight = 0.3 // “exactly”, “information”
	nameWeight    = 1.3
	nounWeight    = 1.15
	contextWeight = 0.6
)

// Ask reads a question, in a language, "en" or "de", after these exchanges. Its last sentence that asks is the question; what stands before it, or in quotation marks, says what it is about.
// Where it asks for several things, each is read after the one before.
func (c *Corpus) Ask(question, language string, earlier []Exchange) Question {
	all := parts(question, language)
	q := c.ask(all[0], language, earlier)
	for i, part := range all[1:] {
		q.also = append(q.also, c.ask(part, language, append(slices.Clone(earlier), Exchange{Question: all[i]})))
	}
	return q
}

func (c *Corpus) ask(question, language string, earlier []Exchange) Question {
	q := Question{language: language, earlier: earlier, words: map[string]bool{}}
	var plain string
	plain, q.quoted = unquote(question)
	asking := lastQuestion(plain)
	var opens []string
	q.kind, opens = kindOf(search.Words(asking), language)
	for _, w := range search.Words(question) {
		q.words[w] = true
	}
	q.terms = c.terms(asking, language, opens, nil)
	promote(q.terms)
	q.measure = measureOf(opens)
	if q.measure == counted && len(q.terms) > 0 && q.terms[0].weight >= usualWeight {
		q.terms[0].counted = isBehind(asking, opens, q.terms[0].word)
	}
	if matter := c.matter(&q, asking, opens); matter != nil {
		q.terms, q.survey = matter, true
		for word := range q.words { // where it was, the hypothesis may say as well
			if !slices.Contains(search.Words(asking), word) {
				delete(q.words, word)
			}
		}
		c.weigh(&q)
		return q
	}
	rest := strings.Replace(plain, asking, " ", 1) + " " + strings.Join(q.quoted, " ")
	q.context = c.terms(rest, language, nil, q.terms)
	q.thin = isThin(q.terms, asking, language)
	if q.thin {
		if len(q.context) == 0 {
			for i := len(earlier) - 1; i >= 0 && i >= len(earlier)-2; i-- {
				before, _ := unquote(earlier[i].Question)
				_, opens := kindOf(search.Words(before), language)
				q.context = append(q.context, c.terms(before, language, opens, slices.Concat(q.terms, q.context))...)
				if len(q.context) >= 2 {
					break
				}
			}
		}
		if len(q.context) == 0 {
			q.context = c.terms(c.hypothesis, language, nil, q.terms)
		}
		for i := range q.context {
			q.context[i].must = false
		}
	}
	c.weigh(&q)
	return q
}

// promote makes words that say little as good as others, where a question has hardly any others: in “Who found the salt?” found tells.
func promote(terms []term) {
	told, named := 0, 0
	for _, t := range terms {
		switch {
		case t.content:
			told++
		case t.must:
			named++
		}
	}
	if told > 1 || told+named == 0 {
		return
	}
	for i := range terms {
		if terms[i].weak {
			terms[i].weight, terms[i].content = usualWeight, true
		}
	}
}

// isBehind says whether a word follows the words that ask: “how many patients”.
func isBehind(asking string, opens []string, word string) bool {
	words := search.Words(asking)
	for i := 0; i+len(opens) < len(words); i++ {
		if slices.Equal(words[i:i+len(opens)], opens) {
			return slices.Contains(words[i+len(opens):min(i+len(opens)+2, len(words))], word)
		}
	}
	return false
}

// lastQuestion is the last sentence of a text that asks, or all of it.
func lastQuestion(text string) string {
	asking := text
	for _, s := range sentences(text) {
		if part := text[s.from:s.to]; strings.HasSuffix(part, "?") {
			asking = part
		}
	}
	return asking
}

// isThin says whether a question can't be understood by itself: it names nothing, or points at what was spoken of.
func isThin(terms []term, asking, language string) bool {
	meaning := 0
	for _, t := range terms {
		if t.weight >= usualWeight {
			meaning++
		}
	}
	if meaning == 0 {
		return true
	}
	list := pieces(asking)
	for i, p := range list {
		last := i+1 == len(list)
		if isPointing(p.low, language) && meaning <= 1 && !(language == german && (p.low == "das" && !last && list[i+1].isCapital() || p.low == "sein" && last)) {
			return true // but “das Hotel” names it, and “zu sein” is a verb
		}
	}
	return false
}

// isPointing says whether a word stands for something that was named before.
func isPointing(word, language string) bool {
	if language == german {
		return slices.Contains([]string{"es", "er", "sie", "ihm", "ihn", "ihr", "ihnen", "ihre", "ihren", "ihrem", "ihrer", "sein", "seine", "seinen", "seinem", "seiner", "das", "dies", "diese", "dieser", "dieses", "diesem", "diesen", "dort", "dabei",
			"davon", "dafur", "dafür", "damit", "daran", "darauf", "daraus", "darin", "daruber", "darüber", "dazu", "dessen", "deren"}, word)
	}
	return slices.Contains([]string{"it", "its", "he", "him", "his", "she", "her", "hers", "they", "them", "their", "theirs", "this", "that", "these", "those", "there", "one", "ones"}, word)
}

// terms are the words of a text that carry meaning, but for those that others have.
func (c *Corpus) terms(text, language string, opens []string, others []term) (list []term) {
	first := true
	for _, p := range pieces(text) {
		for _, w := range search.Words(p.text) {
			t := term{word: w, stem: stem(w, language), weight: usualWeight}
			named := p.isNumber() || p.isCapital() && !first && language != german || isCode(p.text)
			switch {
			case slices.Contains(opens, w), !isCode(p.text) && (isStop(w, language) || isFunction(w, language)):
				first = false
				continue
			case isUnitOfTime(w), isFiller(w, language):
				t.weight = genericWeight
			case search.IsGeneric(w), search.IsAsking(w), search.IsWeak(w):
				t.weight, t.weak = genericWeight, true
			case named:
				t.weight, t.must, t.single = nameWeight, true, len(p.text) == 1
			case p.isCapital() && !first:
				t.weight = nounWeight
			}
			t.content = t.weight >= usualWeight && !t.must
			first = false
			same := func(o term) bool { return o.stem == t.stem }
			if !slices.ContainsFunc(list, same) && !slices.ContainsFunc(others, same) && len(list) < mostTerms {
				list = append(list, t)
			}
		}
	}
	return list
}

// mostTerms is how many words of a text are looked for.
const mostTerms = 24

// isCode says whether a word is a name of one letter, or holds figures: pump B, R2, 7a.
func isCode(text string) bool {
	if len(text) == 1 {
		return text[0] >= 'A' && text[0] <= 'Z' && text != "I"
	}
	return strings.ContainsAny(text, "0123456789")
}

// weigh finds which words of the corpus stand for each term, and how much each term tells.
func (c *Corpus) weigh(q *Question) {
	x := c.in(q.language)
	for _, list := range [][]term{q.terms, q.context} {
		for i := range list {
			t := &list[i]
			t.likeness = map[int32]float64{}
			holding := 0.0
			for id, s := range x.stems {
				if l := likeness(t.stem, s, q.language); l > 0 {
					t.likeness[int32(id)] = l
					holding += l * float64(c.inAll[id])
				}
			}
			// A word that stands nowhere tells no more than one that stands once: it may be the questioner's word for what stands there.
			t.weight *= 0.5 + search.Rarity(float64(c.count), math.Min(max(holding, 1), float64(c.count)))
		}
	}
	if q.thin {
		for i := range q.context {
			q.context[i].weight *= contextWeight
		}
		q.terms = append(q.terms, q.context...)
		q.context = nil
	}
	for _, t := range q.terms {
		q.total += t.weight
	}
}

// unquote takes quotations out of a question.
func unquote(text string) (plain string, quoted []string) {
	var b strings.Builder
	for {
		open := strings.IndexAny(text, "“„«\"")
		if open < 0 {
			break
		}
		sign := text[open : open+width(text[open:])]
		ends := map[string]string{"“": "”", "„": "“”", "«": "»", "\"": "\""}[sign]
		body := text[open+len(sign):]
		end := strings.IndexAny(body, ends)
		if end < 0 {
			break
		}
		quoted = append(quoted, strings.TrimSpace(body[:end]))
		b.WriteString(text[:open] + " ")
		text = body[end+width(body[end:]):]
	}
	b.WriteString(text)
	return b.String(), quoted
}
