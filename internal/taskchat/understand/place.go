package understand

// placed reads a position by its place: "the one in the middle", "the middle one", "the one before the last", "the one at the top". list is nil
// if there is none. In a list with an even number of tasks none is in the middle: the position is then 0.
func (t *text) placed(s span) (list []int, end int) {
	i := t.skip(s.lo, s.hi, rArticle)
	article := i > s.lo
	noun := t.at(i, s.hi, rTask, rOne)
	i += noun
	if n := t.at(i, s.hi, rMiddle); n > 0 && (article || noun > 0) {
		if k := t.at(i+n, s.hi, rTask, rOne); k > 0 {
			noun, n = noun+k, n+k
		}
		if noun > 0 || i+n == s.hi {
			return []int{t.middle()}, i + n
		}
	}
	if e, n := t.entry(i, s.hi, rEnd); n > 0 && noun > 0 {
		return []int{e.value}, i + n
	}
	if e, n := t.entry(i, s.hi, rBeside); n > 0 && (noun > 0 || article) {
		at, next := t.position(span{i + n, s.hi}, false)
		if len(at) == 1 && (at[0] > 0) == (at[0]+e.value > 0) && at[0]+e.value != 0 {
			return []int{at[0] + e.value}, next
		}
	}
	return nil, s.lo
}

// these is how many "those two" are; 0: it is something else.
func (t *text) these(i, hi int) int {
	n := t.at(i, hi, rThese)
	if n == 0 || i+n >= hi {
		return 0
	}
	if next := t.tokens[i+n]; next.kind == number && !next.ordinal {
		return next.value
	}
	e, _ := t.entry(i+n, hi, rNumber)
	return e.value
}

// nowhere says that a part names a task by a place that is none: in the middle of an even number, or next to "it".
func (t *text) nowhere(s span) bool {
	if list, end := t.placed(s); list != nil {
		return end == s.hi
	}
	i := t.skip(s.lo, s.hi, rArticle)
	i += t.at(i, s.hi, rTask, rOne)
	n := t.at(i, s.hi, rBeside)
	return i > s.lo && n > 0 && i+n < s.hi && t.at(i+n, s.hi, rIt) == s.hi-i-n
}

// middle is the position in the middle of the list shown; 0: there is none.
func (t *text) middle() int {
	if t.shown%2 == 0 {
		return 0
	}
	return t.shown/2 + 1
}

// destination finds "to my list" at the end of a part. from says that it takes away: "off the list".
func (t *text) destination(s span) (at int, from bool) {
	for i := max(s.lo, s.hi-7); i < s.hi; i++ {
		if n := t.listPhrase(i, s.hi, tTo, tFrom); n > 0 && i+n == s.hi {
			return i, t.at(i, s.hi, tFrom) > 0
		}
	}
	return -1, false
}

// listPhrase is the length of "to my to-do list" at a token; the classes are of its first word.
func (t *text) listPhrase(i, hi int, classes ...class) int {
	n := t.at(i, hi, classes...)
	if n == 0 {
		return 0
	}
	if k := t.at(i, hi, rPlace); k > 0 {
		return k
	}
	j := t.skip(i+n, hi, rArticle)
	if k := t.at(j, hi, rList); k > 0 {
		return j + k - i
	}
	if k := t.at(j, hi, rTasks); k > 0 && (j+k == hi || t.sign(j+k, ":", ",", ".") || t.at(j+k, hi, tTime) > 0) && j > i+n {
		return j + k - i
	}
	if j = t.skip(j, hi, rListKind); t.at(j, hi, rList) > 0 {
		return j + t.at(j, hi, rList) - i
	}
	return 0
}
