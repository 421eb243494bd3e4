package rules

import (
	"strconv"
	"strings"
)

// moment is a time as people say it: a date, a day of the week, a time of the day. What was not said is 0, the minute -1.
type moment struct {
	from, to int
	date     date
	weekday  int  // 1 is Monday
	ordinal  bool // a day without a month
	twelve   bool // a clock that may be before or after noon
}

// moments finds the times of a sentence.
func (l *language) moments(list []token) []moment {
	var found []moment
	for i := 0; i < len(list); i++ {
		m, ok := l.momentAt(list, i)
		if !ok {
			continue
		}
		found = append(found, m)
		i = m.to - 1
	}
	return found
}

func (l *language) momentAt(list []token, i int) (moment, bool) {
	if d, ok := l.dateAt(list, i); ok {
		said := list[d.from].norm
		twelve := d.date.minute >= 0 && d.date.minute < 12*60 && !strings.HasPrefix(said, "0") && d.to == d.from+1
		return moment{from: d.from, to: d.to, date: d.date, twelve: twelve}, true
	}
	t := list[i]
	if !t.word {
		return moment{}, false
	}
	none := moment{from: i, to: i + 1, date: date{minute: -1}}
	if n := l.weekdays[strings.TrimSuffix(t.norm, "'s")]; n > 0 {
		none.weekday = n
		return none, true
	}
	if minute, is := l.clocks[t.norm]; is {
		none.date.minute = minute
		return none, true
	}
	if n, ok := l.spokenClock(list, i); n > 0 {
		none.to, none.date.minute, none.twelve = i+n, ok, true
		return none, true
	}
	if day, n := l.ordinalDay(list, i); n > 0 {
		none.to, none.date.day, none.ordinal = i+n, day, true
		if m, n := l.monthOf(list, none.to); n > 0 {
			none.date.month, none.ordinal = m, false
			none.to += n
		}
		return none, true
	}
	return none, false
}

// hourAt reads an hour in figures or words.
func (l *language) hourAt(list []token, i int) (hour int, ok bool) {
	t := at(list, i)
	if !t.word {
		return 0, false
	}
	if t.isFigure() {
		v, err := strconv.Atoi(t.norm)
		return v, err == nil && v <= 24
	}
	v := l.numbers[t.norm]
	if t.norm == "ein" || t.norm == "one" {
		v = 1
	}
	return int(v), v >= 1 && v <= 12 && v == float64(int(v))
}

// spokenClock reads “half past two”, “quarter to seven”, “at six”, “halb acht”, “fünf vor neun”.
func (l *language) spokenClock(list []token, i int) (length, minute int) {
	t := list[i]
	wrap := func(m int) int { return (m + 12*60) % (12 * 60) }
	minutes, n := -1, 1
	switch {
	case l.is("half hour", t.norm):
		minutes = 30
	case l.is("quarter hour", t.norm):
		minutes = 15
	default:
		if v, ok := l.numberWord(t.norm); ok && v > 0 && v < 60 {
			minutes = int(v)
		} else if v, err := strconv.Atoi(t.norm); err == nil && v < 60 && v > 0 {
			minutes = v
		}
	}
	if minutes > 0 {
		if l.is("minutes", at(list, i+1).norm) {
			n = 2
		}
		if h, ok := l.hourAt(list, i+n+1); ok {
			switch {
			case l.is("hour past", at(list, i+n).norm):
				return n + 2, wrap(h*60 + minutes)
			case l.is("hour to", at(list, i+n).norm):
				return n + 2, wrap(h*60 - minutes)
			}
		}
		if h, ok := l.hourAt(list, i+1); ok && l.is("half hour", t.norm) {
			if l.code == "de" {
				return 2, wrap(h*60 - 30)
			}
			return 2, wrap(h*60 + 30)
		}
	}
	if h, ok := l.hourAt(list, i); ok && h > 0 && l.is("before clock", at(list, i-1).norm) && at(list, i-1).word {
		after := at(list, i+1)
		if after.word && (l.is("clock", after.norm) || after.norm == "uhr") {
			return 2, wrap(h * 60)
		}
		if !after.word || l.isFunction(after.norm) {
			if v, ok := l.hourAt(list, i+1); ok {
				return 2, wrap(h*60 + v)
			}
			return 1, wrap(h * 60)
		}
	}
	if h, ok := l.hourAt(list, i); ok && (l.is("clock", at(list, i+1).norm)) && at(list, i+1).norm != "hours" {
		return 2, wrap(h * 60)
	}
	return 0, 0
}

// ordinalDay reads “the fifth”, “the 5th”, “am fünften”, “am 5.”.
func (l *language) ordinalDay(list []token, i int) (day, length int) {
	t, before := list[i], at(list, i-1)
	if !before.word || !l.is("before day", before.norm) {
		return 0, 0
	}
	if t.isFigure() {
		v, ok := dayOf(t)
		switch {
		case !ok:
			return 0, 0
		case l.code == "en" && strings.TrimRight(t.norm, "stndrh") != t.norm:
			return v, 1
		case l.code == "de" && at(list, i+1).norm == ".":
			return v, 2
		}
		return 0, 0
	}
	v := l.ordinals[t.norm]
	if v == 0 && l.code == "de" {
		for _, end := range []string{"sten", "ste", "ten", "te"} {
			if stem, ok := strings.CutSuffix(t.norm, end); ok {
				if n, ok := l.numberWord(stem); ok && n >= 1 && n <= 31 {
					v = int(n)
					break
				}
			}
		}
	}
	next := at(list, i+1)
	_, dated := l.monthOf(list, i+1)
	if v == 0 || dated == 0 && (v <= 2 && l.code == "en" || next.word && !l.isFunction(next.norm)) {
		return 0, 0
	}
	return v, 1
}

// monthOf reads “May” and “of May”.
func (l *language) monthOf(list []token, i int) (month, length int) {
	if length = 1; l.code == "en" && at(list, i).norm == "of" {
		length = 2
	}
	name := at(list, i+length-1)
	if month = l.months[name.norm]; month == 0 || !name.upper {
		return 0, 0
	}
	return month, length
}

// differ says whether two times can't be the same, and whether they can be compared at all.
func (m moment) differ(o moment) (differ, comparable bool) {
	look := func(a, b int, ok bool) {
		if ok {
			comparable = true
			differ = differ || a != b
		}
	}
	look(m.date.year, o.date.year, m.date.year > 0 && o.date.year > 0)
	look(m.date.month, o.date.month, m.date.month > 0 && o.date.month > 0)
	look(m.date.day, o.date.day, m.date.day > 0 && o.date.day > 0 && (m.date.month > 0) == (o.date.month > 0) || m.ordinal && o.date.day > 0 || o.ordinal && m.date.day > 0)
	look(m.weekday, o.weekday, m.weekday > 0 && o.weekday > 0)
	if m.date.minute >= 0 && o.date.minute >= 0 {
		a, b := m.date.minute, o.date.minute
		if m.twelve || o.twelve {
			a, b = a%(12*60), b%(12*60)
		}
		look(a, b, true)
	}
	return differ, comparable
}

// kind tells what a time is given by.
func (m moment) kind() int {
	switch {
	case m.date.minute >= 0:
		return 1
	case m.weekday > 0:
		return 2
	case m.date.year > 0 && m.date.month == 0:
		return 3
	}
	return 4
}

func equalMoment(a moment) func(moment) bool {
	return func(b moment) bool {
		differ, comparable := a.differ(b)
		return comparable && !differ
	}
}
