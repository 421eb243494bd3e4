package digest

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// quantity is a number with what it counts, or a date.
type quantity struct {
	from, to int    // tokens of the sentence
	text     string // as it was said
	kind     string // "money", "percent", "date", "clock", "year", "number", "time month", "count client"
	value    float64
	subject  []string // stems of what it is a quantity of
}

const (
	money   = "money"
	percent = "percent"
	date    = "date"
	clock   = "clock"
	year    = "year"
	number  = "number"
	lasting = "time "
	counted = "count "
)

// mostFigures is how many quantities of a sentence are read.
const mostFigures = 12

// quantities finds the numbers in a sentence that are worth to be checked: those with a unit, dates, and bare ones from ten on.
func (l *language) quantities(text string, list []token) []quantity {
	var found []quantity
	for i := 0; i < len(list) && len(found) < mostFigures; i++ {
		q, ok := l.quantity(list, i)
		if !ok {
			continue
		}
		q.text = span(text, list[q.from:q.to])
		if strings.HasPrefix(q.kind, counted) && l.words["measure"].at(list, q.to-1) == 0 && !l.isPlural(text, list[q.to-1]) {
			q.text = span(text, list[q.from:q.to-1]) // what follows may be a verb
		}
		if q.kind == date {
			q.value = 0
		}
		q.subject = l.subject(list, q)
		found = append(found, q)
		i = q.to - 1
	}
	return found
}

// isPlural says whether a word looks like what is counted.
func (l *language) isPlural(text string, t token) bool {
	if l.code == "de" {
		return !startsLower(text, t)
	}
	return strings.HasSuffix(t.norm, "s")
}

// quantity reads the one that begins at i.
func (l *language) quantity(list []token, i int) (quantity, bool) {
	if q, ok := l.namedDay(list, i); ok {
		return q, true
	}
	q := quantity{from: i, to: i}
	sign := l.signAt(list, i, money)
	value, n, written := l.number(list, i+sign)
	if n == 0 {
		return q, false
	}
	q.to, q.value, q.kind = i+sign+n, value, number
	said := list[i+sign].norm
	after := q.to
	switch unit := l.words; {
	case sign > 0:
		q.kind = money
	case after < len(list) && (unit[money].at(list, after) > 0 || l.hasOf(list, after) && unit[money].at(list, after+1) > 0):
		q.kind = money
		if l.hasOf(list, after) && unit[money].at(list, after) == 0 {
			q.to++
		}
		q.to += max(1, unit[money].at(list, q.to))
	case unit[percent].at(list, after) > 0:
		q.kind = percent
		q.to += unit[percent].at(list, after)
	case unit["time"].at(list, after) > 0:
		q.kind = lasting + l.stem(list[after].norm)
		q.to++
	case unit["clock"].at(list, after) > 0 || unit["clock"].at(list, i) > 0 || !written && strings.Contains(said, ":"):
		q.kind = clock
		q.to += unit["clock"].at(list, after)
	case l.monthNear(list, &q):
		q.kind = date
	case !written && (strings.Count(said, ".") == 2 || strings.Contains(said, "/")):
		q.kind = date
		if !isDay(said) {
			return q, false
		}
	case !written && isYear(said, value):
		q.kind = year
	case unit["measure"].at(list, after) > 0:
		q.kind = counted + l.stem(list[after].norm)
		q.to++
	case value < 10 || !written && l.isOrdinal(said):
		return q, false
	case after < len(list) && list[after].word && !l.isFunction(list[after].norm) && !isDigit(rune(list[after].norm[0])):
		q.kind = counted + l.stem(list[after].norm)
		q.to++
	}
	if q.kind == number && value < 100 && i > 0 && list[i-1].word && !l.isFunction(list[i-1].norm) {
		return q, false // “room 12” is a name
	}
	if written && (value == 1 || q.kind == number && value < 100) {
		return q, false // “um mês” is as often “some month”
	}
	return q, true
}

// signAt is how many tokens a sign of money before a number has: “$”, or “R” and “$”.
func (l *language) signAt(list []token, i int, kind string) int {
	n := 0
	for i+n < len(list) && n < 2 && (list[i+n].norm == "r" && i+n+1 < len(list) && list[i+n+1].norm == "$" || l.words[kind].at(list, i+n) == 1) {
		n++
	}
	if i+n < len(list) && isDigit(rune(list[i+n].norm[0])) {
		return n
	}
	return 0
}

// hasOf says whether “de” stands between a number and its unit: “milhões de reais”.
func (l *language) hasOf(list []token, i int) bool { return l.words["of"].at(list, i) == 1 }

// monthNear takes the month before or behind a number, with the year.
func (l *language) monthNear(list []token, q *quantity) bool {
	month := l.words["month"]
	at := q.to
	if at < len(list) && list[at].norm == "." {
		at++
	}
	if l.hasOf(list, at) {
		at++
	}
	switch {
	case month.at(list, at) > 0:
		q.to = at + 1
	case q.from > 0 && month.at(list, q.from-1) > 0 && q.value < 32:
		q.from--
	default:
		return false
	}
	return true
}

// namedDay reads a month or a day of the week that something is dated by: “até sexta”.
func (l *language) namedDay(list []token, i int) (quantity, bool) {
	n := l.words["dated"].at(list, i)
	if n == 0 {
		return quantity{}, false
	}
	day := max(l.words["month"].at(list, i+n), l.words["weekday"].at(list, i+n))
	after := i + n + day
	if day == 0 || after < len(list) && isDigit(rune(list[after].norm[0])) || l.words["ordinal"].at(list, i+n) > 0 && after < len(list) && list[after].word && !l.isFunction(list[after].norm) {
		return quantity{}, false
	}
	return quantity{from: i, to: i + n + day, kind: date}, true
}

// isDay says whether figures are a day and a month, and perhaps a year.
func isDay(said string) bool {
	fields := strings.FieldsFunc(said, func(r rune) bool { return r == '/' || r == '.' })
	if len(fields) < 2 {
		return false
	}
	a, _ := strconv.Atoi(fields[0])
	b, _ := strconv.Atoi(fields[1])
	return a > 0 && b > 0 && a <= 31 && b <= 31 && min(a, b) <= 12
}

// isOrdinal says whether figures count a place and no quantity: “15th”.
func (l *language) isOrdinal(said string) bool {
	tail := strings.TrimLeft(said, "0123456789")
	return tail != "" && l.words["ordinal ending"].at([]token{{norm: tail, word: true}}, 0) > 0
}

func isYear(said string, value float64) bool { return len(said) == 4 && value >= 1900 && value <= 2100 }

// number reads a number in figures or in words: its value, how many tokens it has, and whether it was written out.
func (l *language) number(list []token, i int) (value float64, n int, written bool) {
	if i >= len(list) || !list[i].word {
		return 0, 0, false
	}
	if isDigit(rune(list[i].norm[0])) {
		value, scale, ok := l.digits(list[i].norm)
		if !ok {
			return 0, 0, false
		}
		n = 1
		if i+1 < len(list) {
			if s := l.numbers[list[i+1].norm]; s >= 1000 {
				return value * s, 2, false
			}
		}
		return value * scale, n, false
	}
	return l.spelled(list, i)
}

// digits reads a number in figures; “120k” and “20mil” hold their scale.
func (l *language) digits(said string) (value, scale float64, ok bool) {
	end := strings.LastIndexFunc(said, isDigit) + 1
	figures, tail := said[:end], said[end:]
	scale = 1
	switch {
	case tail == "k":
		scale = 1000
	case tail == "m":
		scale = 1e6
	case l.numbers[tail] >= 1000:
		scale = l.numbers[tail]
	}
	value, err := strconv.ParseFloat(plainFigures(figures, l.code != "en"), 64)
	if err != nil {
		value, _ = strconv.ParseFloat(strings.Map(func(r rune) rune {
			if isDigit(r) {
				return r
			}
			return -1
		}, figures), 64)
	}
	return value, scale, !math.IsInf(value, 0)
}

// plainFigures takes the signs between thousands out and makes the decimal sign a point.
func plainFigures(figures string, comma bool) string {
	decimal, thousands := ".", ","
	if comma {
		decimal, thousands = ",", "."
	}
	if i := strings.LastIndex(figures, thousands); i >= 0 && len(figures)-i-1 != 3 && !strings.Contains(figures, decimal) {
		decimal, thousands = thousands, decimal // 1.5 in a text that has 1,5 elsewhere
	}
	return strings.Replace(strings.ReplaceAll(figures, thousands, ""), decimal, ".", 1)
}

// spelled reads a number that is written out.
func (l *language) spelled(list []token, i int) (value float64, n int, written bool) {
	total, part := 0.0, 0.0
	for at := i; at < len(list) && at < i+12 && list[at].word; at++ {
		v, ok := l.numberWord(list[at].norm)
		switch {
		case ok && v >= 1000:
			total += max(part, 1) * v
			part = 0
		case ok && v == 100 && part > 0 && part < 10:
			part *= 100
		case ok && (part == 0 || part >= 100 && v < 100 || part >= 20 && math.Mod(part, 10) == 0 && v < 10):
			part += v
		case n > 0 && l.words["joined"].at(list, at) > 0:
			continue
		default:
			return total + part, n, true
		}
		n = at + 1 - i
	}
	return total + part, n, true
}

// numberWord reads one word; German writes whole numbers in one.
func (l *language) numberWord(word string) (float64, bool) {
	if v, ok := l.numbers[word]; ok {
		return v, true
	}
	if l.code != "de" || len(word) < 8 || len(word) > 60 {
		return 0, false
	}
	for _, scale := range []string{"tausend", "hundert", "und"} {
		before, after, found := strings.Cut(word, scale)
		if !found {
			continue
		}
		low, high := 1.0, 0.0
		ok := before == ""
		if before != "" {
			low, ok = l.numberWord(before)
		}
		if ok && after != "" {
			high, ok = l.numberWord(after)
		}
		if !ok {
			return 0, false
		}
		if scale == "und" {
			return low + high, after != "" && before != ""
		}
		return low*l.numbers[scale] + high, true
	}
	return 0, false
}

// subject gives the stems that say what a quantity of a sentence is of: those of its clause, with the one before if it has none.
func (l *language) subject(list []token, q quantity) []string {
	from, to := q.from, q.to
	for to < len(list) && !l.isBetween(list, to) {
		to++
	}
	for {
		for from > 0 && !l.isBetween(list, from-1) {
			from--
		}
		kept := slices.Clone(list[from:q.from])
		if stems := l.content(append(kept, list[q.to:to]...)); len(stems) > 0 || from == 0 {
			return stems
		}
		from--
	}
}

// isBetween says whether a token stands between two clauses.
func (l *language) isBetween(list []token, i int) bool {
	return slices.Contains([]string{",", ";", "(", ")", "–", "—"}, list[i].norm) || l.connects("clause", list, i) > 0
}
