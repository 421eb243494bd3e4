package rules

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// quantity is a number with what it measures or counts. A bound that is open is infinite.
type quantity struct {
	from, to int
	low      float64
	high     float64
	about    bool
	unit     string   // the dimension; "" for what is counted
	said     string   // the unit as it was said, folded
	counts   []string // stems of what is counted
	rate     string   // “per day”
	negated  bool
	digits   int // significant ones
}

// mostQuantities is how many quantities of a sentence are read.
const mostQuantities = 12

// quantities finds the numbers of a sentence that measure or count something. Dates and the numbers of things are none.
func (l *language) quantities(list []token) []quantity {
	var found []quantity
	taken := make([]bool, len(list))
	for _, d := range l.dates(list) {
		for i := d.from; i < d.to; i++ {
			taken[i] = true
		}
	}
	for i := 0; i < len(list) && len(found) < mostQuantities; i++ {
		if taken[i] || !list[i].word {
			continue
		}
		q, ok := l.quantity(list, i)
		if !ok {
			continue
		}
		found = append(found, q)
		i = max(i, q.to-1)
	}
	return found
}

func (l *language) quantity(list []token, i int) (quantity, bool) {
	value, n, written := l.number(list, i)
	if n == 0 {
		return quantity{}, false
	}
	q := quantity{from: i, to: i + n, low: value, high: value, digits: significant(value)}
	sign, signed := l.units[at(list, i-1).norm]
	signed = signed && strings.HasPrefix(sign.dimension, "money")
	if !signed && l.isIdentifier(list, i) || l.isOrdinal(list, i) {
		return q, false
	}
	if end, n := l.rangeEnd(list, q.to); n > 0 && end > value {
		q.high = end
		q.to += n
	}
	switch {
	case signed:
		q.unit, q.from = sign.dimension, i-1
		if at(list, q.to).norm == "m" {
			q.low, q.high = q.low*1e6, q.high*1e6
			q.to++
		}
	case !l.unitAfter(list, &q):
		q.counts = l.countedAfter(list, q.to)
	}
	if written && value == 1 && (q.unit == "" || l.code == "de" && q.unit != "time") {
		return q, false // “ein” is as often an article
	}
	l.rateAfter(list, &q)
	l.bound(list, &q)
	return q, true
}

// number reads a number in figures or in words.
func (l *language) number(list []token, i int) (value float64, n int, written bool) {
	t := at(list, i)
	if !t.word {
		return 0, 0, false
	}
	if !t.isFigure() {
		value, n, written = l.spelled(list, i)
		if half := l.classes["and half"].at(list, i+n); n > 0 && half > 0 {
			scale := 1.0
			if last := l.numbers[at(list, i+n-1).norm]; last >= 1000 {
				scale = last
			}
			return value + scale/2, n + half, written
		}
		return value, n, written
	}
	value, ok := l.figure(t.norm)
	if !ok {
		return 0, 0, false
	}
	n = 1
	if s := l.numbers[at(list, i+n).norm]; s >= 1000 && !l.isUnit(at(list, i+n).norm) {
		value *= s
		n++
		if at(list, i+n).norm == "." && at(list, i+n+1).word && len(list[i+n-1].norm) <= 3 {
			n++
		}
	}
	return value, n, false
}

// figure reads figures with signs for thousands and decimals.
func (l *language) figure(said string) (float64, bool) {
	if strings.ContainsAny(said, ":/") || strings.Count(said, ".") > 1 && strings.Contains(said, ",") && strings.Count(said, ",") > 1 {
		return 0, false
	}
	decimal, thousands := ".", ","
	if l.code == "de" {
		decimal, thousands = ",", "."
	}
	if i := strings.LastIndex(said, thousands); i >= 0 && len(said)-i-1 != 3 && !strings.Contains(said, decimal) {
		decimal, thousands = thousands, decimal // 1.5 in a text that has 1,5 elsewhere
	}
	v, err := strconv.ParseFloat(strings.Replace(strings.ReplaceAll(said, thousands, ""), decimal, ".", 1), 64)
	return v, err == nil && !math.IsInf(v, 0)
}

// spelled reads a number that is written out.
func (l *language) spelled(list []token, i int) (value float64, n int, written bool) {
	total, part := 0.0, 0.0
	for at := i; at < len(list) && at < i+8 && list[at].word; at++ {
		v, ok := l.numberWord(list[at].norm)
		switch {
		case ok && v >= 1000 && len(list[at].norm) > 2:
			total += max(part, 1) * v
			part = 0
		case ok && v == 100 && part < 10:
			part = max(part, 1) * 100
		case ok && v < 1000 && (n == 0 || part >= 100 && v < 100 || part >= 20 && math.Mod(part, 10) == 0 && v < 10 || part == 0):
			part += v
		case n > 0 && list[at].norm == "and" && part >= 100:
			continue
		default:
			return total + part, n, true
		}
		n = at + 1 - i
	}
	return total + part, n, true
}

// numberWord reads one word; German writes whole numbers in one, and English joins tens and ones.
func (l *language) numberWord(word string) (float64, bool) {
	if v, ok := l.numbers[word]; ok {
		return v, len(word) > 2
	}
	if tens, ones, joined := strings.Cut(word, "-"); joined && l.code == "en" {
		t, o := l.numbers[tens], l.numbers[ones]
		return t + o, t >= 20 && t < 100 && o >= 1 && o < 10
	}
	if l.code != "de" || len(word) < 8 || len(word) > 50 {
		return 0, false
	}
	if whole, is := strings.CutSuffix(word, "einhalb"); is {
		v, ok := l.numberWord(whole)
		return v + 0.5, ok
	}
	for _, scale := range []string{"tausend", "hundert", "und"} {
		before, after, found := strings.Cut(word, scale)
		if !found {
			continue
		}
		low, high, ok := 1.0, 0.0, true
		if before != "" {
			low, ok = l.numberWord(before)
		}
		if ok && after != "" {
			high, ok = l.numberWord(after)
		}
		switch {
		case !ok:
			return 0, false
		case scale == "und":
			return low + high, after != "" && before != ""
		}
		return low*l.numbers[scale] + high, true
	}
	return 0, false
}

// isNumberWord says whether a word is a number that is written out.
func (l *language) isNumberWord(word string) bool {
	v, is := l.numberWord(word)
	return is && v != 0
}

// isIdentifier says whether a number only names a thing: “room 12”.
func (l *language) isIdentifier(list []token, i int) bool {
	before := at(list, i-1)
	after := at(list, i+1)
	counts := after.word && !after.isFigure() && !l.isFunction(after.norm) && !l.isVerbLike(after) && (l.code != "de" || after.upper)
	return before.word && l.is("identified", before.norm) && !l.isUnit(after.norm) && !counts || at(list, i-1).norm == "-" && at(list, i-2).word
}

// isOrdinal says whether a number counts a place and no quantity.
func (l *language) isOrdinal(list []token, i int) bool {
	t := list[i]
	if t.isFigure() && strings.TrimRight(t.norm, "stndrh") != t.norm {
		return true
	}
	return l.code == "de" && t.isFigure() && at(list, i+1).norm == "." && at(list, i+2).word && len(t.norm) <= 3
}

func (l *language) rangeEnd(list []token, i int) (value float64, n int) {
	if l.classes["range"].at(list, i) == 0 {
		return 0, 0
	}
	joins := at(list, i).norm
	if v, n, _ := l.number(list, i+1); n > 0 {
		if joins == "and" || joins == "und" || joins == "or" || joins == "oder" {
			before := false
			for back := 2; back <= 4; back++ {
				before = before || l.is("between", at(list, i-back).norm) && at(list, i-back).word
			}
			if !before {
				return 0, 0
			}
		}
		return v, n + 1
	}
	return 0, 0
}

// unitAfter takes the unit behind a number.
func (l *language) unitAfter(list []token, q *quantity) bool {
	t := at(list, q.to)
	if t.norm == "°" && at(list, q.to+1).norm == "c" {
		q.unit, q.said = "temperature", "°c"
		q.to += 2
		return true
	}
	if t.norm == "-" && l.isUnit(at(list, q.to+1).norm) {
		q.to++ // the 40-metre bridge
		t = at(list, q.to)
	}
	power := 1.0
	switch {
	case l.code == "en" && t.norm == "square":
		power = 2
	case l.code == "en" && t.norm == "cubic":
		power = 3
	}
	if power > 1 {
		t = at(list, q.to+1)
	}
	u, ok := l.units[t.norm]
	if !ok || power > 1 && u.dimension != "length" {
		return false
	}
	q.unit, q.said = u.dimension, t.norm
	factor := math.Pow(u.factor, power)
	switch power {
	case 2:
		q.unit = "area"
		q.to++
	case 3:
		q.unit = "volume"
		factor *= 1000
		q.to++
	}
	q.to++
	q.low, q.high = q.low*factor, q.high*factor
	return true
}

// countedAfter gives the stems of what is counted: the words behind the number up to one that only holds the sentence together.
func (l *language) countedAfter(list []token, i int) []string {
	var stems []string
	for ; i < len(list) && list[i].word && len(stems) < 3 && !list[i].isFigure() && !l.isFunction(list[i].norm); i++ {
		stems = append(stems, l.stemOf(list[i]))
		if l.code == "de" && list[i].upper {
			break
		}
	}
	return stems
}

// rateAfter takes “per day”, “a day” and “/h”.
func (l *language) rateAfter(list []token, q *quantity) {
	if l.classes["per"].at(list, q.to) == 0 {
		return
	}
	next := at(list, q.to+1)
	article := at(list, q.to).norm == "a" || at(list, q.to).norm == "an" || at(list, q.to).norm == "am"
	if u, ok := l.units[next.norm]; next.word && (ok && u.dimension == "time" || !article && !l.isFunction(next.norm)) {
		q.rate = l.stemOf(next)
		if ok {
			q.rate = strconv.FormatFloat(u.factor, 'g', 3, 64)
		}
	}
}

// bound takes what stands before a number: about, more than, not.
func (l *language) bound(list []token, q *quantity) {
	for back := 1; back <= 4 && q.from-back >= 0; back++ {
		i := q.from - back
		switch {
		case l.classes["about"].at(list, i) == back:
			q.about = true
		case l.classes["at least"].at(list, i) == back:
			q.high = math.Inf(1)
		case l.classes["at most"].at(list, i) == back:
			q.low = math.Inf(-1)
		case back <= 2 && l.classes["negation"].at(list, i) == back:
			q.negated = true
		}
	}
	if n := l.classes["about"].at(list, q.to); n > 1 {
		q.about = true // “40 or so”
	}
}

// significant counts the figures of a number up to the zeros at its end.
func significant(v float64) int {
	s := strings.TrimLeft(strings.Replace(strconv.FormatFloat(math.Abs(v), 'f', -1, 64), ".", "", 1), "0")
	return max(1, len(strings.TrimRight(s, "0")))
}

// sameMeasure says whether two quantities can be compared at all.
func sameMeasure(a, b quantity) bool {
	if a.unit != b.unit || a.rate != b.rate {
		return false
	}
	return a.unit != "" || shared(a.counts, b.counts) > 0
}

const (
	converted = 0.03 // how far two units may differ by rounding
	loose     = 0.15 // how far “about” reaches
	rounded   = 0.05 // how far a round number may be from an exact one
)

// agree says whether two quantities of the same measure may be the same.
func agree(a, b quantity) bool {
	if a.low <= b.high && b.low <= a.high {
		return true
	}
	if math.IsInf(a.low, 0) || math.IsInf(a.high, 0) || math.IsInf(b.low, 0) || math.IsInf(b.high, 0) {
		return false
	}
	x, y := (a.low+a.high)/2, (b.low+b.high)/2
	off := math.Abs(x-y) / max(math.Abs(x), math.Abs(y), 1e-9)
	limit := 1e-9
	if a.said != b.said {
		limit = converted
	}
	if a.about || b.about {
		limit = loose
	}
	return off <= limit || off <= rounded && (isRounding(a, b) || isRounding(b, a))
}

// open says whether a quantity has only one bound.
func (q quantity) open() bool { return math.IsInf(q.low, 0) || math.IsInf(q.high, 0) }

// isRounding says whether a number is another one with fewer figures.
func isRounding(round, exact quantity) bool {
	if round.digits >= exact.digits || round.low < 1 {
		return false
	}
	magnitude := math.Pow(10, math.Floor(math.Log10(exact.low))-float64(round.digits)+1)
	return math.Abs(math.Round(exact.low/magnitude)*magnitude-round.low) < magnitude/1000
}

// isSum says whether a quantity is the sum of several others.
func isSum(total quantity, parts []quantity) bool {
	sum := 0.0
	n := 0
	for _, p := range parts {
		if p.unit == total.unit && p.low == p.high && p.low < total.low {
			sum += p.low
			n++
		}
	}
	if n < 2 || n > 8 {
		return false
	}
	near := func(v float64) bool { return math.Abs(v-total.low) <= 0.01*math.Abs(total.low) }
	if near(sum) {
		return true
	}
	return slices.ContainsFunc(parts, func(p quantity) bool { return n > 2 && near(sum-p.low) })
}
