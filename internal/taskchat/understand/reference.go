package understand

import (
	"slices"
	"strconv"
	"strings"
)

// maxRange bounds the positions that one range names.
const maxRange = 200

// named is a reference with what its words were.
type named struct {
	Reference
	status   string // "pending" or "completed": all of those
	explicit bool   // by position, by a pronoun, or called a task
	doubt    bool   // it begins as a position, or holds a choice or a condition: its words may be no title
	several  bool   // an indefinite one: "a task", "two tasks"
}

// reference reads a part as a reference. nil: it names nothing.
func (t *text) reference(s span) *named {
	s = t.trimStart(s, rOnly)
	s = t.trimPlace(t.trimEnd(t.trim(s, fFiller, fMe, tEnding), tInsteadOf))
	if s.empty() {
		return nil
	}
	if k := t.before(s.lo, s.hi, fHedge); k > 0 && s.hi-k > s.lo && !t.tokens[s.hi-1].quoted { // "the first one, I guess"
		n := t.reference(span{s.lo, s.hi - k})
		if n != nil {
			n.doubt = true
		}
		return n
	}
	words := t.raw(s)
	if n, end := t.exact(s); n != nil && end == s.hi {
		n.Words = words
		n.doubt = n.doubt || s.hi-s.lo == 1 && t.at(s.lo, s.hi, rNumber) > 0 // "two" may be an amount
		return n
	}
	if t.nowhere(s) {
		return &named{several: true, doubt: true}
	}
	n := t.contrasted(s)
	if n != nil {
		return n
	}
	if n = t.byTitle(s); n != nil {
		n.Words = words
		n.doubt = t.opensAsPosition(s) || !t.isQuoted(s) && t.has(s, rOr, fIf, fHedge) >= 0
	}
	return n
}

// opensAsPosition says that a part that is no position as a whole begins as one: "task 2 of the course". An ordinal before a noun does not.
func (t *text) opensAsPosition(s span) bool {
	if t.isQuoted(s) {
		return false
	}
	if i := t.skip(s.lo, s.hi, rArticle); t.at(i, s.hi, rTask, rTasks) > 0 && i+1 < s.hi { // "task 2.5"
		next := t.tokens[i+t.at(i, s.hi, rTask, rTasks)]
		if next.kind == number || next.kind == sign && !next.quoted && next.norm == "-" || next.norm[0] >= '0' && next.norm[0] <= '9' {
			return true
		}
	}
	n, end := t.positions(s)
	if n == nil {
		return false
	}
	for i := s.lo; i < end; i++ {
		if t.tokens[i].kind == number {
			return true
		}
	}
	return t.at(end, s.hi, rOf, rTask, rTasks, rAbout) > 0 || t.sign(end, ",")
}

// trimPlace takes "from my list", "on the list" from the end.
func (t *text) trimPlace(s span) span {
	if at, _ := t.destination(s); at > s.lo {
		s.hi = at
	}
	return t.trimEnd(s, fFiller, tEnding)
}

// exact reads a reference that names no title, as far as it goes. nil: there is none.
func (t *text) exact(s span) (*named, int) {
	all, allEnd := t.everything(s)
	if n, end := t.positions(s); n != nil {
		if end = t.ofList(end, s.hi); all == nil || end > allEnd {
			return n, end
		}
	}
	if all != nil {
		return all, allEnd
	}
	if n := t.at(s.lo, s.hi, rIts); n > 0 && s.lo+n == s.hi {
		return &named{Reference: Reference{It: true}, explicit: true}, s.hi
	}
	if n := t.at(s.lo, s.hi, rIt); n > 0 {
		end := s.lo + n
		if k := t.at(end, s.hi, rTask, rOne); k > 0 {
			end += k
		}
		return &named{Reference: Reference{It: true}, explicit: true}, end
	}
	if n := t.at(s.lo, s.hi, rArticle); n > 0 && t.demonstrative(s.lo) { // "this task", "those ones"
		if k := t.at(s.lo+n, s.hi, rTask, rTasks, rOne, rOnes); k > 0 {
			return &named{Reference: Reference{It: true}, explicit: true}, s.lo + n + k
		}
	}
	return nil, s.lo
}

// demonstrative says that the article at a token points at something: it may stand for a task by itself.
func (t *text) demonstrative(i int) bool { return t.at(i, i+1, rIt) > 0 }

// ofList skips "of the list", "from my tasks" behind a reference.
func (t *text) ofList(i, hi int) int {
	n := t.at(i, hi, rOf)
	if n == 0 {
		return i
	}
	j := t.skip(i+n, hi, rArticle, rListKind)
	if k := t.at(j, hi, rList, rTasks, rEach, rIt); k > 0 {
		return j + k
	}
	return i
}

func (t *text) skip(i, hi int, classes ...class) int {
	for {
		n := t.at(i, hi, classes...)
		if n == 0 {
			return i
		}
		i += n
	}
}

// everything reads references to all tasks, or to all of a status, with what is excepted.
func (t *text) everything(s span) (*named, int) {
	n := &named{Reference: Reference{All: true}, explicit: true}
	i := s.lo
	if end := t.wholeNumber(n, s); end > s.lo {
		return n, end
	}
	all, each := false, false
	for k := -1; k != 0; i += k {
		if k = t.at(i, s.hi, rEach); k > 0 {
			each = true
		} else if k = t.at(i, s.hi, rAll, rWhole); k > 0 {
			all = true
		} else {
			k = t.at(i, s.hi, rArticle, rOf)
		}
	}
	if k := t.at(i, s.hi, tDone); k > 0 && t.at(i+k, s.hi, rTask, rTasks, rOnes, rOne) > 0 || k > 0 && (all || each || i > s.lo) && i+k == s.hi {
		n.status, i = "completed", i+k
	} else if k := t.at(i, s.hi, tUndone); k > 0 && (t.at(i+k, s.hi, rTask, rTasks, rOnes, rOne) > 0 || (all || each || i > s.lo) && i+k == s.hi) {
		n.status, i = "pending", i+k
	}
	noun := t.at(i, s.hi, rTasks, rOnes)
	if noun == 0 && (all || n.status != "") {
		noun = t.at(i, s.hi, rTask, rOne)
	}
	list := t.skip(i, s.hi, rListKind)
	if k := t.at(list, s.hi, rList); k > 0 && noun == 0 && i > s.lo {
		noun, all = list+k-i, true
		noun += t.at(i+noun, s.hi, rWhole)
	}
	i += noun
	definite := noun > 0 && i-noun > s.lo
	if !each && !all && n.status == "" && !definite {
		return nil, s.lo
	}
	if !each && noun == 0 && n.status == "" && i < s.hi && !(t.sign(i, ",") && t.at(i+1, s.hi, rExcept) > 0) && t.at(i, s.hi, rExcept, rOf, tStill) == 0 {
		return nil, s.lo
	}
	if noun > 0 && !all && !each && n.status == "" {
		if t.demonstrative(s.lo) { // "those tasks"
			return nil, s.lo
		}
		if t.at(s.lo, s.hi, rArticle) == 0 {
			return nil, s.lo
		}
	}
	i = t.ofList(i, s.hi)
	if n.status == "" && i < s.hi {
		i = t.trailingStatus(n, i, s.hi)
	}
	return t.excepted(n, span{i, s.hi})
}

// wholeNumber is where "both", "all three" ends, which is said to be all there are; s.lo: it is not there.
func (t *text) wholeNumber(n *named, s span) int {
	if e, k := t.entry(s.lo, s.hi, rBoth); k > 0 {
		n.Both = e.value == 0
		return t.ofList(t.skip(s.lo+k, s.hi, rTasks, rOnes), s.hi)
	}
	i := s.lo + t.at(s.lo, s.hi, rAll)
	if n.Both = t.these(s.lo, s.hi) == 2; n.Both { // "those two"
		end := t.skip(s.lo+2, s.hi, rTasks, rOnes)
		if n.Both = t.skipSigns(span{end, s.hi}, fFiller, tEnding) == s.hi; n.Both {
			return end
		}
	}
	if i == s.lo {
		return s.lo
	}
	if c := t.at(i, s.hi, rNumber); c > 0 || i < s.hi && t.tokens[i].kind == number { // "all three"
		end := t.skip(i+max(c, 1), s.hi, rTasks, rOnes)
		if t.skipSigns(span{end, s.hi}, fFiller, tEnding) == s.hi || t.at(end, s.hi, rOf) > 0 {
			return t.ofList(end, s.hi)
		}
	}
	return s.lo
}

// trailingStatus reads "that are done" behind "all tasks".
func (t *text) trailingStatus(n *named, i, hi int) int {
	j := t.skip(i, hi, fBe, fSubject, rArticle, tAs)
	if k := t.at(j, hi, tUndone); k > 0 && j+k == hi {
		n.status = "pending"
		return j + k
	}
	if k := t.at(j, hi, tDone); k > 0 && j+k == hi {
		n.status = "completed"
		return j + k
	}
	return i
}

// excepted reads what follows "except" behind all tasks.
func (t *text) excepted(n *named, s span) (*named, int) {
	i := s.lo
	if t.sign(i, ",") {
		i++
	}
	k := t.at(i, s.hi, rExcept)
	if k == 0 {
		return n, s.lo
	}
	rest := t.trim(span{i + k, s.hi}, fFiller, tEnding, rExcept)
	if rest.empty() {
		return n, s.lo
	}
	except := t.reference(rest)
	if except == nil {
		return n, s.lo
	}
	n.Except = &except.Reference
	return n, s.hi
}

// positions reads one or several positions: "2", "task 2 and 3", "2-4", "the first two", "the second and the last one".
func (t *text) positions(s span) (*named, int) {
	n := &named{explicit: true}
	end := s.lo
	if k := t.at(s.lo, s.hi, rOf); k > 0 && s.lo+k < s.hi && t.tokens[s.lo+k].kind == number { // "from 1 to 3"
		s.lo += k
	}
	for i := s.lo; i < s.hi; {
		list, next := t.position(span{i, s.hi}, len(n.Positions) > 0)
		if list == nil {
			break
		}
		for _, p := range list {
			if len(n.Positions) < maxRange {
				n.Positions = append(n.Positions, p)
			}
		}
		end, i = next, next
		for t.sign(i, ",") || t.at(i, s.hi, rAnd) > 0 {
			i += max(1, t.at(i, s.hi, rAnd))
		}
		if i == next && (i >= s.hi || t.tokens[i].kind != number || t.tokens[i-1].kind != number) { // "1 2 3"
			break
		}
	}
	if n.Positions == nil || slices.Contains(n.Positions, 0) || end < s.hi && (t.tokens[end].glued && t.tokens[end].kind == word && t.tokens[end].norm != "'s" || t.at(end, s.hi, rOr) > 0) {
		return nil, s.lo
	}
	return n, end
}

// position reads one item of positions. In a list, a number may stand alone behind others.
func (t *text) position(s span, more bool) (list []int, end int) {
	if list, end = t.placed(s); list != nil {
		return list, end
	}
	i := t.skip(s.lo, s.hi, rArticle)
	if k := t.skip(i, s.hi, rListKind); t.at(k, s.hi, rTask, rTasks) > 0 {
		i = k
	}
	noun := t.at(i, s.hi, rTask, rTasks)
	i += noun
	if noun == 0 && t.these(s.lo, s.hi) > 0 {
		return nil, s.lo
	}
	if noun > 0 && t.sign(i, ":") {
		i++
	}
	if t.sign(i, "#") {
		i++
	} else {
		i += t.at(i, s.hi, rNumeroSign)
	}
	if list, end = t.digits(i, s.hi); list != nil {
		if next := t.at(end, s.hi, rTasks); next > 0 && noun == 0 && !t.tokens[i].ordinal {
			return nil, s.lo // "2 tasks" is an amount
		}
		if t.tokens[i].ordinal {
			return t.counted(list[len(list)-1], span{end, s.hi})
		}
		return list, end
	}
	if e, k := t.entry(i, s.hi, rOrdinal); k > 0 && !t.hyphened(i+k) {
		return t.counted(e.value, span{i + k, s.hi})
	}
	if e, k := t.entry(i, s.hi, rNumber); k > 0 && !t.hyphened(i+k) {
		if o, m := t.entry(i+k, s.hi, rOrdinal); m > 0 { // "as duas primeiras"
			return run(o.value, e.value), t.skip(i+k+m, s.hi, rTasks, rOnes)
		}
		alone := i+k == s.hi || t.sign(i+k, ",") || t.at(i+k, s.hi, rAnd, tDone, tAs, tInto, fFiller, tEnding, rOf) > 0
		pronoun := e.value == 1 && i > s.lo && noun == 0 && t.at(i, s.hi, rOne, rIndefinite) > 0 && t.skip(s.lo, i, rArticle) == i // "that one"
		listed := (t.sign(i+k, ",") || t.at(i+k, s.hi, rAnd) > 0) && t.at(i+k+1, s.hi, rNumber) > 0
		if e.value == 1 && noun == 0 && !more && !listed && t.at(i, s.hi, rOne, rIndefinite) > 0 && !t.sign(i-1, "#") && t.before(s.lo, i, rNumeroSign) == 0 {
			pronoun = true // "one" alone names none
		}
		if !pronoun && (i > s.lo || more || alone) {
			if t.at(i+k, s.hi, rTasks, rTask, rOnes) > 0 && noun == 0 {
				return nil, s.lo
			}
			return []int{e.value}, i + k
		}
	}
	return nil, s.lo
}

// hyphened says that a hyphen ties what begins at a token to the word before.
func (t *text) hyphened(i int) bool { return t.sign(i, "-") && t.tokens[i].glued }

// counted reads what follows an ordinal: "first two tasks", "second one".
func (t *text) counted(ordinal int, s span) ([]int, int) {
	if e, k := t.entry(s.lo, s.hi, rNumber); k > 0 && e.value > 1 && (ordinal == 1 || ordinal == -1) {
		return run(ordinal, e.value), s.lo + k + t.at(s.lo+k, s.hi, rTasks, rOnes)
	}
	if s.lo < s.hi && t.tokens[s.lo].kind == number && t.tokens[s.lo].value > 1 && (ordinal == 1 || ordinal == -1) {
		return run(ordinal, t.tokens[s.lo].value), s.lo + 1 + t.at(s.lo+1, s.hi, rTasks, rOnes)
	}
	end := s.lo + t.at(s.lo, s.hi, rTask, rOne)
	if e, k := t.entry(end, s.hi, rEnd); k > 0 { // "second one from the bottom"
		return []int{ordinal * e.value}, end + k
	}
	return []int{ordinal}, end
}

// run is the first or last n positions.
func run(ordinal, n int) (list []int) {
	for i := range min(n, maxRange) {
		if ordinal > 0 {
			list = append(list, ordinal+i)
		} else {
			list = append(list, ordinal-n+1+i)
		}
	}
	return list
}

// digits reads a number, a range of numbers, or numbers with commas and no space.
func (t *text) digits(i, hi int) ([]int, int) {
	if i >= hi || t.tokens[i].quoted {
		return nil, i
	}
	tok := t.tokens[i]
	if tok.kind == word && commaSeparated(tok.norm) {
		return commas(tok.norm), i + 1
	}
	if tok.kind != number || tok.value == 0 {
		return nil, i
	}
	var k int
	if t.sign(i+1, "-") {
		k = 1
	} else {
		k = t.at(i+1, hi, rThrough)
	}
	if k > 0 && i+1+k < hi {
		if to := t.tokens[i+1+k]; to.kind == number && to.value > tok.value && to.value-tok.value < maxRange && !to.quoted {
			list := []int{}
			for p := tok.value; p <= to.value; p++ {
				list = append(list, p)
			}
			return list, i + 2 + k
		}
		if t.sign(i+1, "-") && t.tokens[i+1].glued {
			return nil, i // "2-in-1"
		}
	}
	return []int{tok.value}, i + 1
}

func commas(s string) (list []int) {
	for _, part := range strings.Split(s, ",") {
		p, err := strconv.Atoi(part)
		if err != nil || p < 1 || p > 999 {
			return nil
		}
		list = append(list, p)
	}
	return list
}
