package rules

import (
	"slices"
	"strconv"
	"strings"
)

// date is a time that was given; a part that was not is 0, the minute of the day -1.
type date struct{ year, month, day, minute int }

// dateAt is a date in a list of tokens.
type dateAt struct {
	from, to int
	date     date
	role     string // what stands before it and bounds it: "from", "until"; "" for none
	about    bool
}

// anchors are what binds a statement to a time.
type anchors struct {
	years, months, days []int // a day is month*100+day
	others              []string
}

// dates finds the dates of a sentence.
func (l *language) dates(list []token) []dateAt {
	var found []dateAt
	for i := 0; i < len(list); i++ {
		d, ok := l.dateAt(list, i)
		if !ok {
			continue
		}
		d.role, d.about = l.dateRole(list, d.from)
		d.about = d.about && d.date.minute < 0
		found = append(found, d)
		i = d.to - 1
	}
	return found
}

// dateAt reads the one that begins at i.
func (l *language) dateAt(list []token, i int) (dateAt, bool) {
	t := list[i]
	if !t.word {
		return dateAt{}, false
	}
	d := dateAt{from: i, to: i + 1, date: date{minute: -1}}
	if t.isFigure() {
		switch {
		case l.isoDate(list, &d), l.dotted(list, &d), l.dayFirst(list, &d), l.clockAt(list, &d), l.yearAt(list, &d):
			return d, true
		}
		return d, false
	}
	m := l.months[t.norm]
	if m == 0 || !t.upper || t.norm == "may" && !l.isMay(list, i) {
		return d, false
	}
	d.date.month = m
	if d.to < len(list) && list[d.to].norm == "." && len(t.norm) <= 4 {
		d.to++
	}
	if day, ok := dayOf(at(list, d.to)); ok && l.code == "en" {
		d.date.day = day
		d.to++
		if at(list, d.to).norm == "," && isYear(at(list, d.to+1).norm) {
			d.to++
		}
	}
	l.yearAfter(list, &d)
	return d, true
}

// isMay tells the month from the verb: a figure or a preposition stands beside it.
func (l *language) isMay(list []token, i int) bool {
	before := at(list, i-1).norm
	return at(list, i+1).isFigure() || at(list, i-1).isFigure() || slices.Contains([]string{"in", "of", "since", "until", "by", "from", "last", "early", "late", "mid"}, before)
}

// at is a token, or none.
func at(list []token, i int) token {
	if i < 0 || i >= len(list) {
		return token{norm: " "}
	}
	return list[i]
}

func (l *language) isoDate(list []token, d *dateAt) bool {
	i := d.from
	if !isYear(list[i].norm) || at(list, i+1).norm != "-" || at(list, i+3).norm != "-" || !at(list, i+2).isFigure() || !at(list, i+4).isFigure() {
		return false
	}
	y, _ := strconv.Atoi(list[i].norm)
	m, _ := strconv.Atoi(list[i+2].norm)
	day, _ := strconv.Atoi(list[i+4].norm)
	d.date.year, d.date.month, d.date.day = y, m, day
	d.to = i + 5
	return m >= 1 && m <= 12 && day >= 1 && day <= 31
}

// dotted reads 3.5.2021, and 25/3/2021 where no more than one reading is possible.
func (l *language) dotted(list []token, d *dateAt) bool {
	said := list[d.from].norm
	sign := "."
	if strings.Contains(said, "/") {
		sign = "/"
	}
	parts := strings.Split(said, sign)
	if len(parts) != 3 {
		return false
	}
	var n [3]int
	for i, p := range parts {
		v, err := strconv.Atoi(p)
		if err != nil || v < 1 {
			return false
		}
		n[i] = v
	}
	if n[2] < 100 {
		n[2] += 2000
	}
	d.date.year = n[2]
	switch {
	case n[2] > 2100 || n[0] > 31 || n[1] > 31:
		return false
	case sign == "." || n[0] > 12:
		d.date.day, d.date.month = n[0], n[1]
	case n[1] > 12 || n[0] == n[1]:
		d.date.day, d.date.month = n[1], n[0]
	}
	return d.date.month <= 12
}

// dayFirst reads 3 May 2021, 3rd of May and 3. Mai 2021.
func (l *language) dayFirst(list []token, d *dateAt) bool {
	day, ok := dayOf(list[d.from])
	if !ok {
		return false
	}
	i := d.from + 1
	if at(list, i).norm == "." {
		i++
	}
	if at(list, i).norm == "of" {
		i++
	}
	m := l.months[at(list, i).norm]
	if m == 0 || !at(list, i).upper {
		return false
	}
	d.date.day, d.date.month, d.to = day, m, i+1
	if at(list, d.to).norm == "," && isYear(at(list, d.to+1).norm) {
		d.to++
	}
	l.yearAfter(list, d)
	return true
}

func dayOf(t token) (int, bool) {
	if !t.isFigure() {
		return 0, false
	}
	v, err := strconv.Atoi(strings.TrimRight(t.norm, "stndrh"))
	return v, err == nil && v >= 1 && v <= 31
}

func (l *language) yearAfter(list []token, d *dateAt) {
	if isYear(at(list, d.to).norm) {
		d.date.year, _ = strconv.Atoi(list[d.to].norm)
		d.to++
	}
}

// clockAt reads 14:30, 2.30 pm and 14 Uhr.
func (l *language) clockAt(list []token, d *dateAt) bool {
	said := strings.ReplaceAll(list[d.from].norm, ".", ":")
	hour, minute, colon := strings.Cut(said, ":")
	h, err := strconv.Atoi(hour)
	if err != nil || h > 24 {
		return false
	}
	m := 0
	if colon {
		if m, err = strconv.Atoi(minute); err != nil || m > 59 || len(minute) != 2 {
			return false
		}
	}
	after := at(list, d.to).norm
	named := l.is("clock", after) && after != " "
	switch {
	case after == "hours" && !(colon && strings.Contains(list[d.from].norm, ":")):
		return false
	case !named && !(colon && strings.Contains(list[d.from].norm, ":")):
		return false
	case (after == "pm" || after == "p.m") && h < 12:
		h += 12
	}
	if named {
		d.to++
	}
	d.date.minute = h*60 + m
	return true
}

func isYear(said string) bool {
	if len(said) != 4 {
		return false
	}
	v, err := strconv.Atoi(said)
	return err == nil && v >= 1000 && v <= 2100
}

// yearAt reads a year by itself. What counts something is none.
func (l *language) yearAt(list []token, d *dateAt) bool {
	i := d.from
	if !isYear(list[i].norm) || l.isUnit(at(list, i+1).norm) || l.isUnit(at(list, i-1).norm) && !l.is("function", at(list, i-1).norm) {
		return false
	}
	before, after := at(list, i-1), at(list, i+1)
	bound := before.word && (l.is("dated", before.norm) || l.months[before.norm] > 0 || l.is("season", before.norm))
	if !bound && list[i].norm < "1400" && l.code != "de" {
		return false
	}
	named := l.isFirstName(after.norm) || after.upper && at(list, i+2).upper
	if !bound && !named && after.word && !l.isFunction(after.norm) && (l.code != "de" || after.upper) && i > 0 {
		return false
	}
	d.date.year, _ = strconv.Atoi(list[i].norm)
	return true
}

// dateRole says what bounds a date: that something begins or ends with it is no time of its own.
func (l *language) dateRole(list []token, from int) (role string, about bool) {
	for back := 1; back <= 3 && from-back >= 0; back++ {
		switch {
		case l.classes["about"].at(list, from-back) == back, l.classes["about date"].at(list, from-back) > 0 && back <= 2:
			about = true
		case l.classes["until"].at(list, from-back) == back, back == 2 && l.classes["until"].at(list, from-back) == 1 && !list[from-1].isFigure():
			role = "until"
		case l.classes["from"].at(list, from-back) == back:
			role = "from"
		}
	}
	return role, about
}

// anchors finds what binds a sentence to a time.
func (l *language) anchors(list []token) anchors {
	var a anchors
	for _, d := range l.dates(list) {
		if l.is("of date", at(list, d.from-1).norm) && l.is("paper", at(list, d.from-2).norm) {
			continue // a letter's date is not that of what it says
		}
		if d.date.year > 0 && !slices.Contains(a.years, d.date.year) {
			a.years = append(a.years, d.date.year)
		}
		if d.date.month > 0 && !slices.Contains(a.months, d.date.month) {
			a.months = append(a.months, d.date.month)
		}
		if d.date.day > 0 {
			a.days = append(a.days, d.date.month*100+d.date.day)
		}
	}
	for _, t := range list {
		if t.word && (l.is("weekday", t.norm) || l.is("season", t.norm)) {
			a.others = append(a.others, l.stemOf(t))
		}
	}
	return a
}

func disjoint[T comparable](a, b []T) bool {
	return len(a) > 0 && len(b) > 0 && !slices.ContainsFunc(a, func(x T) bool { return slices.Contains(b, x) })
}
