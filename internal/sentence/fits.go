package sentence

import (
	"slices"
	"strings"

	"sibyl/internal/text/search"
)

// fits says whether a sentence has what the question asks for: a when-question wants a date, how many a number.
func (c *Corpus) fits(q Question, text string) bool {
	list := pieces(text)
	switch q.kind {
	case when:
		return slices.ContainsFunc(list, func(p piece) bool { return p.isDate() || p.isYear() }) || hasNamedTime(list)
	case quantity:
		return hasQuantity(q, list) && isNear(q, text, list) && slices.ContainsFunc(list, func(p piece) bool { return q.measure.measures(p.low) })
	case who:
		return hasPerson(q, list)
	case name:
		return hasName(q, text, list)
	case where:
		return hasPlace(q, list)
	case why:
		return hasReason(text, q.language)
	}
	return true
}

// hasNamedTime says whether a month, a day of the week or the like is named, which the verb “may” is not.
func hasNamedTime(list []piece) bool {
	for i, p := range list {
		if isWeekday(p.low) || isMonth(p.low) && (p.low != "may" && p.low != "march" || p.isCapital() && i > 0) {
			return true
		}
	}
	return false
}

// hasQuantity says whether there is a number that is no date, and that the question did not bring.
func hasQuantity(q Question, list []piece) bool {
	for i, p := range list {
		switch {
		case q.words[p.low] || p.isDate():
		case p.isNumber():
			near := i+1 < len(list) && isMonth(list[i+1].low) || i > 0 && isMonth(list[i-1].low) && len(p.text) <= 2
			if !near && (!p.isYear() || i+1 < len(list) && q.asksFor(list[i+1])) {
				return true
			}
		case isNumberWord(p.low):
			return true
		}
	}
	return false
}

// isNear says whether a number stands by what is counted, or behind what is measured, in one clause.
func isNear(q Question, text string, list []piece) bool {
	if q.measure != extent && !slices.ContainsFunc(q.terms, func(t term) bool { return t.counted }) {
		return true
	}
	const reach = 7
	for i, p := range list {
		if !p.isNumber() && !isNumberWord(p.low) || q.words[p.low] {
			continue
		}
		for j := max(i-reach, 0); j < min(i+4, len(list)); j++ {
			from, to := min(list[i].at, list[j].at), max(list[i].at, list[j].at)
			if j == i || strings.ContainsAny(text[from:to], ",;:") && !strings.Contains(text[from:to], ": ") || q.measure == extent && j > i {
				continue
			}
			for _, w := range search.Words(list[j].text) {
				if slices.ContainsFunc(q.terms, func(t term) bool {
					return (t.counted || q.measure == extent && t.content) && likeness(t.stem, stem(w, q.language), q.language) > 0
				}) {
					return true
				}
			}
		}
	}
	return false
}

// asksFor says whether a word behind a figure is one of the question, so that the figure counts it and is no year.
func (q Question) asksFor(p piece) bool {
	for _, w := range search.Words(p.text) {
		for _, t := range q.terms {
			if likeness(t.stem, stem(w, q.language), q.language) > 0 {
				return true
			}
		}
	}
	return false
}

// hasName says whether a name is in a sentence that the question does not have: words with capital letters that follow each other, or one
// where only names have them, or something in quotation marks.
func hasName(q Question, text string, list []piece) bool {
	if _, quoted := unquote(text); len(quoted) > 0 {
		return true
	}
	isPart := func(i int) bool {
		p := list[i]
		return p.isCapital() && !q.asksFor(p) && !isMonth(p.low) && !isWeekday(p.low) && !search.IsStop(strings.Join(search.Words(p.text), ""))
	}
	for i := range list {
		follows := i+1 < len(list) && list[i+1].at == list[i].at+len(list[i].text)+1
		if isPart(i) && (q.language != german && i > 0 || follows && isPart(i+1)) {
			return true
		}
	}
	return false
}

// hasPerson says whether somebody or something is named that the question does not name. Where all is told of what was done to something, only
// “von” names who did it.
func hasPerson(q Question, list []piece) bool {
	done := q.language == german && !q.survey && slices.ContainsFunc(list, func(p piece) bool { return isPassive(p.low) && !q.words[p.low] })
	for i, p := range list {
		low := search.Words(p.text)
		if len(low) == 0 || p.isNumber() || q.words[low[0]] || q.asksFor(p) || isNumberWord(p.low) || search.IsStop(low[0]) || isFunction(low[0], q.language) || isMonth(p.low) || isWeekday(p.low) || isUnitOfTime(p.low) {
			continue
		}
		if done && (i == 0 || !isActor(list, i, q.language)) {
			continue
		}
		if p.isCapital() && i > 0 || i == 0 && p.isCapital() && q.language != german {
			return true
		}
		if i > 0 && isActor(list, i, q.language) || isSubject(q, list, i) {
			return true
		}
	}
	return false
}

func isPassive(word string) bool { return word == "wurde" || word == "wurden" || word == "worden" }

// isActor says whether a word stands behind “by” or “von”.
func isActor(list []piece, i int, language string) bool {
	actors := []string{"by"}
	if language == german {
		actors = []string{"von", "vom", "durch"}
	}
	for back := i - 1; back >= 0 && back >= i-3; back-- {
		if slices.Contains(actors, list[back].low) {
			return true
		}
	}
	return false
}

// isSubject says whether a word stands before the first word that the question has too: “The board approved the budget.”
func isSubject(q Question, list []piece, at int) bool {
	return !slices.ContainsFunc(list[:at], q.asksFor)
}

// hasPlace says whether a preposition of place stands before something that is no time and that the question does not name.
func hasPlace(q Question, list []piece) bool {
	prepositions := []string{"in", "at", "near", "from", "to", "on", "under", "above", "behind", "beside", "next", "inside", "outside", "into", "through", "between", "around", "along", "across", "opposite", "off"}
	if q.language == german {
		prepositions = []string{"in", "im", "am", "an", "auf", "bei", "beim", "aus", "nach", "von", "vom", "zu", "zum", "zur", "unter", "über", "hinter", "vor", "neben", "ins", "durch", "zwischen", "nahe", "gegenüber"}
	}
	for i, p := range list {
		if !slices.Contains(prepositions, p.low) {
			continue
		}
		article := false
		for j, next := range list[i+1 : min(i+5, len(list))] {
			low := strings.Join(search.Words(next.text), "")
			if next.isNumber() || isMonth(next.low) || isWeekday(next.low) || isUnitOfTime(next.low) || isNumberWord(next.low) {
				break
			}
			if search.IsStop(low) || isFunction(low, q.language) {
				article = article || low == "the" || low == "a" || low == "an" || low == "its" || low == "their"
				continue
			}
			numbered := i+j+2 < len(list) && isCode(list[i+j+2].text) && !list[i+j+2].isYear() // in hall B, but not in autumn 2019
			if !q.words[low] && (next.isCapital() || q.language != german && article || numbered) {
				return true
			}
			break
		}
	}
	return false
}

// hasReason says whether a word stands in a sentence that gives a reason.
func hasReason(text, language string) bool {
	list := pieces(text)
	low := " " + strings.Join(lower(list), " ") + " "
	reasons := []string{
		"because", "due to", "owing to", "reason", "reasons", "so that", "in order to", "as a result", "caused", "cause", "causes", "therefore", "thus", "hence", "led to", "leads to", "resulted", "results from", "on account of", "thanks to",
		"after", "prompted", "motivated", "explained", "explains", "attributed", "to avoid", "to prevent", "to reduce", "to improve", "to ensure", "to allow", "to protect", "to save", "to make", "for lack of",
	}
	if language == german {
		reasons = []string{
			"weil", "denn", "wegen", "aufgrund", "auf grund", "grund", "gründe", "ursache", "ursachen", "damit", "deshalb", "daher", "darum", "deswegen", "somit", "infolge", "nachdem", "führte", "führten", "verursacht", "verursachte", "durch", "dank",
			"mangels", "zurückzuführen", "begründet", "begründete", "begründung",
		}
	}
	return slices.ContainsFunc(reasons, func(r string) bool { return strings.Contains(low, " "+r+" ") }) || hasClauseOfReason(text, list, language)
}

// hasClauseOfReason says whether a clause begins with a word that gives a reason only where a clause begins: “since”, but not “since 2019”; “da”, but
// not “er war da”; “um … zu”, but not “um 15 Uhr”.
func hasClauseOfReason(text string, list []piece, language string) bool {
	for i, p := range list[:max(len(list)-1, 0)] {
		next := list[i+1]
		isTime := next.isNumber() || isNumberWord(next.low) || isMonth(next.low) || isWeekday(next.low) || isUnitOfTime(next.low)
		begins := i == 0 || strings.ContainsAny(text[list[i-1].at+len(list[i-1].text):p.at], ",;:–(")
		switch {
		case isTime:
		case language != german && p.low == "since", language == german && p.low == "da" && begins:
			return true
		case language == german && p.low == "um" && begins && slices.ContainsFunc(list[i+1:], isInfinitive):
			return true
		}
	}
	return false
}

// isInfinitive says whether a German word is “zu”, or holds it as in “einzusparen”.
func isInfinitive(p piece) bool {
	_, end, found := strings.Cut(p.low, "zu")
	return p.low == "zu" || found && !strings.HasPrefix(p.low, "zu") && strings.HasSuffix(end, "n")
}

func lower(list []piece) (low []string) {
	for _, p := range list {
		low = append(low, p.low)
	}
	return low
}
