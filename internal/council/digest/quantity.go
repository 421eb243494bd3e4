package digest

import (
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
		if strings.HasPrefix(q.kind, counted) && l.words["measure"].At(list, q.to-1) == 0 && !l.isPlural(text, list[q.to-1]) {
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
	return strings.HasSuffix(t.Norm, "s")
}

// quantity reads the one that begins at i.
func (l *language) quantity(list []token, i int) (quantity, bool) {
	if q, ok := l.namedDay(list, i); ok {
		return q, true
	}
	q := quantity{from: i, to: i}
	sign := l.signAt(list, i, money)
	value, n, written := l.numbers.At(list, i+sign)
	if n == 0 {
		return q, false
	}
	q.to, q.value, q.kind = i+sign+n, value, number
	said := list[i+sign].Norm
	after := q.to
	switch unit := l.words; {
	case sign > 0:
		q.kind = money
	case after < len(list) && (unit[money].At(list, after) > 0 || l.hasOf(list, after) && unit[money].At(list, after+1) > 0):
		q.kind = money
		if l.hasOf(list, after) && unit[money].At(list, after) == 0 {
			q.to++
		}
		q.to += max(1, unit[money].At(list, q.to))
	case unit[percent].At(list, after) > 0:
		q.kind = percent
		q.to += unit[percent].At(list, after)
	case unit["time"].At(list, after) > 0:
		q.kind = lasting + l.endings.Stem(list[after].Norm)
		q.to++
	case unit["clock"].At(list, after) > 0 || unit["clock"].At(list, i) > 0 || !written && strings.Contains(said, ":"):
		q.kind = clock
		q.to += unit["clock"].At(list, after)
	case l.monthNear(list, &q):
		q.kind = date
	case !written && (strings.Count(said, ".") == 2 || strings.Contains(said, "/")):
		q.kind = date
		if !isDay(said) {
			return q, false
		}
	case !written && isYear(said, value):
		q.kind = year
	case unit["measure"].At(list, after) > 0:
		q.kind = counted + l.endings.Stem(list[after].Norm)
		q.to++
	case value < 10 || !written && l.isOrdinal(said):
		return q, false
	case after < len(list) && list[after].Word && !l.isFunction(list[after].Norm) && !list[after].IsFigure():
		q.kind = counted + l.endings.Stem(list[after].Norm)
		q.to++
	}
	if q.kind == number && value < 100 && i > 0 && list[i-1].Word && !l.isFunction(list[i-1].Norm) {
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
	for i+n < len(list) && n < 2 && (list[i+n].Norm == "r" && i+n+1 < len(list) && list[i+n+1].Norm == "$" || l.words[kind].At(list, i+n) == 1) {
		n++
	}
	if i+n < len(list) && list[i+n].IsFigure() {
		return n
	}
	return 0
}

// hasOf says whether “de” stands between a number and its unit: “milhões de reais”.
func (l *language) hasOf(list []token, i int) bool { return l.words["of"].At(list, i) == 1 }

// monthNear takes the month before or behind a number, with the year.
func (l *language) monthNear(list []token, q *quantity) bool {
	month := l.words["month"]
	at := q.to
	if at < len(list) && list[at].Norm == "." {
		at++
	}
	if l.hasOf(list, at) {
		at++
	}
	switch {
	case month.At(list, at) > 0:
		q.to = at + 1
	case q.from > 0 && month.At(list, q.from-1) > 0 && q.value < 32:
		q.from--
	default:
		return false
	}
	return true
}

// namedDay reads a month or a day of the week that something is dated by: “até sexta”.
func (l *language) namedDay(list []token, i int) (quantity, bool) {
	n := l.words["dated"].At(list, i)
	if n == 0 {
		return quantity{}, false
	}
	day := max(l.words["month"].At(list, i+n), l.words["weekday"].At(list, i+n))
	after := i + n + day
	if day == 0 || after < len(list) && list[after].IsFigure() || l.words["ordinal"].At(list, i+n) > 0 && after < len(list) && list[after].Word && !l.isFunction(list[after].Norm) {
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
	return tail != "" && l.words["ordinal ending"].Is(tail)
}

func isYear(said string, value float64) bool { return len(said) == 4 && value >= 1900 && value <= 2100 }

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
	return slices.Contains([]string{",", ";", "(", ")", "–", "—"}, list[i].Norm) || l.connects("clause", list, i) > 0
}
