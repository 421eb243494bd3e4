package understand

import "strings"

// byTitle reads a reference by words of a title: "the meeting task", "the task about the house", "the milk".
func (t *text) byTitle(s span) *named {
	n := &named{}
	if t.isQuoted(s) {
		n.Title, n.explicit = t.raw(t.unquoted(s)), true
		return n
	}
	if t.isOpen(s) {
		return &named{several: true}
	}
	i := t.skip(s.lo, s.hi, rArticle, rAll)
	if k := t.at(i, s.hi, rTask, rTasks, rOne, rOnes); k > 0 {
		j := i + k
		if t.sign(j, ",") && t.at(j+1, s.hi, rAbout) > 0 { // "die Aufgabe, in der es um X geht"
			j++
		}
		if j = t.skip(j, s.hi, rAbout, rNumeroSign); j > i+k {
			s = t.trimEnd(s, tTail)
		}
		if t.sign(j, ":") {
			j++
		}
		if i+k == s.hi {
			if t.at(i, s.hi, rTasks) > 0 && i == s.lo {
				n.several = true
			}
			n.explicit, n.It = true, !n.several
			if n.It && i == s.lo { // "task" alone names none
				n.It, n.several = false, true
			}
			return n
		}
		if j > i+k || i > s.lo || t.isQuoted(span{i + k, s.hi}) {
			n.explicit = true
			i = j
			if i < s.hi {
				i = t.skip(i, s.hi, rArticle)
			}
		}
	}
	if k := t.at(i, s.hi, rAbout); !n.explicit && k > 0 && i > s.lo && t.at(s.lo, i, rAll) == 0 { // "the one" without a word for it: "die mit der Rechnung"
		if j := t.skip(i+k, s.hi, rArticle); j < s.hi {
			i, n.explicit = j, true
		}
	}
	rest := t.trim(span{i, s.hi}, tEnding)
	if title := t.compound(rest); title != "" {
		n.Title, n.explicit = title, true
		return n
	}
	if k := t.before(rest.lo, rest.hi, rTask, rTasks, rOne, rOnes); k > 0 && rest.hi-k > rest.lo && i <= rest.hi-k {
		rest.hi -= k
		n.explicit = true
		rest = t.trimEnd(rest)
	}
	if rest.empty() {
		return nil
	}
	n.Title = t.raw(t.unquoted(rest))
	return n
}

// isOpen says that a part speaks of tasks without saying which: "a task", "two tasks", "some of them", "the other one", "the rest".
func (t *text) isOpen(s span) bool {
	if t.isAmount(s) {
		return true
	}
	if n := t.these(s.lo, s.hi); n > 1 && t.skip(s.lo+2, s.hi, rTasks, rOnes) == s.hi { // "those three"
		return true
	}
	i := t.skip(s.lo, s.hi, rArticle, rAll)
	if k := t.at(i, s.hi, rBoth); k > 0 && t.at(i+k, s.hi, rOf) > 0 {
		i = t.skip(i+k, s.hi, rOf, rArticle)
	}
	open := t.skip(i, s.hi, rIndefinite, rAnother, tNewest)
	if one := t.at(open, s.hi, rNumber, rOne); open == i && one > 0 && t.at(open+one, s.hi, rOf) > 0 { // "one of them"
		open += one
	}
	if open == i {
		return false
	}
	rest := t.skip(open, s.hi, rNew, rOf, rArticle, rNumber)
	return rest+t.at(rest, s.hi, rTask, rTasks, rOne, rOnes, rIt, rList) == s.hi
}

// compound is the title in a word that ends with "-task"; "" if it does not.
func (t *text) compound(s span) string {
	if s.empty() || t.tokens[s.hi-1].kind != word || t.tokens[s.hi-1].quoted {
		return ""
	}
	raw := t.raw(s)
	at := strings.LastIndexByte(raw, '-')
	if at < 1 {
		return ""
	}
	for _, e := range t.lex.entries[fold(raw[at+1:])] {
		if e.class == rTask && len(e.rest) == 0 {
			return raw[:at]
		}
	}
	return ""
}

// isAmount says that a part begins with a number and ends with tasks: "two tasks".
func (t *text) isAmount(s span) bool {
	return s.hi-s.lo == 2 && (t.at(s.lo, s.hi, rNumber) > 0 || t.tokens[s.lo].kind == number) && t.at(s.lo+1, s.hi, rTasks, rTask) > 0
}
