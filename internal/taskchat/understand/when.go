package understand

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// sort is what a word says of when something is: each is replaced by its like.
type sort uint8

const (
	theDay  sort = 1 << iota // Friday, tomorrow, 3 May, next week
	thePart                  // of the day: evening
	theHour                  // at 5, 16:30, noon
)

// calendar holds the closed classes of words that say when, in all languages, since titles keep theirs.
type calendar struct {
	sorts     map[string]sort
	months    map[string]bool
	units     map[string]bool // that make a number an hour: "pm", "Uhr"
	before    map[string]bool // what may stand before a time or within it
	atHours   map[string]bool // … before an hour
	relative  map[string]bool // days with no preposition: "tomorrow", "next week"
	fixed     map[string]bool // prepositions that mean something else than "on": "by Friday"
	ordinals  map[string]bool // weekdays that are ordinals too
	weekdays  []string        // German ones, which take the part of the day in: "Montagabend"
	partsHeld []string
	hour      *regexp.Regexp // 3pm, 16:30, 9 Uhr in one word
	date      *regexp.Regexp // 3/5, 12.11.2026
}

var when = sync.OnceValue(func() *calendar {
	set := func(words string) map[string]bool {
		all := map[string]bool{}
		for w := range strings.FieldsSeq(words) {
			all[fold(w)] = true
		}
		return all
	}
	c := &calendar{
		sorts:    map[string]sort{},
		months:   set(`january february march april may june july august september october november december januar februar märz mai juni juli oktober dezember janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro`),
		units:    set(`am pm o'clock uhr h hs hrs hora horas`),
		before:   set(`on at by for from until till before after in the to this next coming of um am bis ab vor nach für im zum auf gegen den der die dem diese diesen dieser nächste nächsten nächster nächstes kommende kommenden na no nas nos às as ao em para pra até de da do à a próxima próximo esta este que vem`),
		atHours:  set(`at um gegen às as`),
		relative: set(`today tomorrow tonight next this heute morgen übermorgen nächste nächsten nächstes kommende kommenden diese diesen hoje amanhã próxima próximo esta este`),
		ordinals: set(`segunda terça quarta quinta sexta`),
		fixed:    set(`by until till before after from bis ab vor nach até`),
		hour:     regexp.MustCompile(`^\d{1,2}([:.]\d{2})?(am|pm|h|h\d{2}|uhr)$|^\d{1,2}:\d{2}$`),
		date:     regexp.MustCompile(`^\d{1,2}[./]\d{1,2}([./]\d{2,4})?$`),
		weekdays: strings.Fields(`montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag`), partsHeld: strings.Fields(`morgen vormittag mittag nachmittag abend nacht`),
	}
	for words, is := range map[string]sort{
		`monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri today tomorrow weekend week month`: theDay,
		`montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag heute morgen übermorgen wochenende woche monat`:           theDay,
		`segunda terça quarta quinta sexta sábado domingo segunda-feira terça-feira quarta-feira quinta-feira sexta-feira feira`:         theDay,
		`hoje amanhã semana mês`:                                      theDay,
		`morning afternoon evening night`:                             thePart,
		`früh vormittag nachmittag abend abends nacht`:                thePart,
		`manhã tarde noite`:                                           thePart,
		`noon midday midnight mittag mitternacht meio-dia meia-noite`: theHour,
		`tonight`: theDay | thePart,
	} {
		for w := range strings.FieldsSeq(words) {
			c.sorts[fold(w)] = is
		}
	}
	return c
})

// timed are tokens that together say when.
type timed struct {
	lo, hi int
	sort   sort
	either bool // it may as well be a position: "the 2nd", "a segunda"
}

// at reads what says when at a token; none where hi is lo.
func (c *calendar) at(list []token, i int) timed {
	t, none := list[i], timed{lo: i, hi: i}
	norm := func(at int) string {
		if at < 0 || at >= len(list) {
			return ""
		}
		return list[at].norm
	}
	switch {
	case c.sorts[t.norm] != 0:
		return timed{i, i + 1, c.sorts[t.norm], c.ordinals[t.norm] && norm(i-1) == "a"}
	case c.hour.MatchString(t.norm):
		return timed{lo: i, hi: i + 1, sort: theHour}
	case t.kind == word && c.date.MatchString(t.norm) && c.before[norm(i-1)]:
		return timed{lo: i, hi: i + 1, sort: theDay}
	case t.kind == number || t.kind == word && c.date.MatchString(t.norm):
		next := i + 1
		for norm(next) == "." || norm(next) == "of" || norm(next) == "de" {
			next++
		}
		switch {
		case c.units[norm(i+1)]:
			return timed{lo: i, hi: i + 2, sort: theHour}
		case c.months[norm(next)]:
			return timed{lo: i, hi: next + 1, sort: theDay}
		case c.atHours[norm(i-1)]:
			return timed{lo: i, hi: i + 1, sort: theHour}
		case t.ordinal && c.before[norm(i-1)]:
			return timed{i, i + 1, theDay, true}
		}
	case c.months[t.norm] && i+1 < len(list) && list[i+1].kind == number:
		return timed{lo: i, hi: i + 2, sort: theDay}
	case c.months[t.norm] && c.before[norm(i-1)]:
		return timed{lo: i, hi: i + 1, sort: theDay}
	}
	for _, d := range c.weekdays {
		if part, ok := strings.CutPrefix(t.norm, d); ok && slices.Contains(c.partsHeld, part) {
			return timed{lo: i, hi: i + 1, sort: theDay | thePart}
		}
	}
	return none
}

// all lists what says when in a text.
func (c *calendar) all(list []token) (found []timed) {
	for i := 0; i < len(list); {
		at := c.at(list, i)
		if at.hi > at.lo && !list[i].quoted {
			found = append(found, at)
		}
		i = max(at.hi, i+1)
	}
	return found
}

// SaysWhen says that words name nothing but a day or a time: "Friday", "the 3rd of May", "tomorrow at 5"; not "the 3rd", which may be a position.
func SaysWhen(words string) bool {
	list := tokenize(words)
	c, i := when(), 0
	found := c.all(list)
	for _, t := range found {
		for ; i < t.lo; i++ {
			if !c.before[list[i].norm] && list[i].norm != "," {
				return false
			}
		}
		i = t.hi
	}
	for ; i < len(list); i++ {
		if n := list[i].norm; n != "." && n != "!" && n != "vem" && n != "que" {
			return false
		}
	}
	return slices.ContainsFunc(found, func(t timed) bool { return !t.either })
}

// WithoutWhen is words without the days and times in them, and what stands before these.
func WithoutWhen(words string) string {
	c, list := when(), tokenize(words)
	out, done, last := strings.Builder{}, 0, 0
	for _, t := range c.all(list) {
		lo := t.lo
		for lo > last && c.before[list[lo-1].norm] {
			lo--
		}
		out.WriteString(words[done:list[lo].start])
		done, last = list[t.hi-1].end, t.hi
	}
	out.WriteString(words[done:])
	return strings.Join(strings.Fields(out.String()), " ")
}

// Rescheduled is a title with another day or time: it takes the place of its like, a day that of a day; where there is none it is added.
func Rescheduled(title, to string) string {
	c := when()
	old, fresh := tokenize(title), tokenize(to)
	var is sort
	for _, t := range c.all(fresh) {
		is |= t.sort
	}
	var gone []timed
	for _, t := range c.all(old) {
		if t.sort&is != 0 {
			gone = append(gone, t)
		}
	}
	to = strings.Join(strings.Fields(to), " ")
	if len(gone) == 0 {
		return title + " " + to
	}
	out, done, last := strings.Builder{}, 0, 0
	for n, t := range gone {
		lo := t.lo
		for lo > last && c.before[old[lo-1].norm] && (n > 0 || c.gives(fresh, old[lo-1].norm)) {
			lo--
		}
		out.WriteString(title[done:old[lo].start])
		if n == 0 {
			out.WriteString(to)
		}
		done, last = old[t.hi-1].end, t.hi
	}
	out.WriteString(title[done:])
	return strings.Join(strings.Fields(out.String()), " ")
}

// gives says whether a preposition before a time goes with it when that one comes: it has its own, or takes none.
func (c *calendar) gives(fresh []token, preposition string) bool {
	first := fresh[0].norm
	if c.relative[first] {
		return !c.fixed[preposition]
	}
	return c.before[first] || c.relative[preposition]
}
