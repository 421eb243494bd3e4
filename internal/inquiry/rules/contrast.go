package rules

import (
	"slices"
	"strings"
)

// contrast is a closed class of words that tell things apart: planned and actual, north and south, height and length.
type contrast struct {
	name   string
	hard   bool // a word of it on one side alone tells apart too
	absent int  // the group that no word means; -1: none
}

// mark is what a word says within a contrast.
type mark struct{ contrast, group int }

type openMark struct {
	begins string
	mark
}

// takeContrast reads “name hard: a b | ~c d”. The group with “~” means what no word means.
func (l *language) takeContrast(of, list string) {
	name, kind, _ := strings.Cut(of, " ")
	c := contrast{name: name, hard: kind == "hard", absent: -1}
	n := len(l.contrasts)
	for group, words := range slices.Collect(strings.SplitSeq(strings.ReplaceAll(list, ",", " "), "|")) {
		for w := range strings.FieldsSeq(words) {
			if w == "~" {
				c.absent = group
				continue
			}
			begins, open := strings.CutSuffix(w, "*")
			if begins = fold(begins); open {
				l.openMarks = append(l.openMarks, openMark{begins, mark{n, group}})
			} else {
				l.marks[begins] = append(l.marks[begins], mark{n, group})
			}
		}
	}
	l.contrasts = append(l.contrasts, c)
}

// told lists what the words of a text say within contrasts.
func (l *language) told(list []token) []mark {
	var found []mark
	for i, t := range list {
		if !t.word || l.is("title", t.norm) && at(list, i+1).upper && l.mayName(at(list, i+1)) {
			continue
		}
		for _, m := range l.marks[t.norm] {
			if !slices.Contains(found, m) {
				found = append(found, m)
			}
		}
		for _, o := range l.openMarks {
			if strings.HasPrefix(t.norm, o.begins) && !slices.Contains(found, o.mark) {
				found = append(found, o.mark)
			}
		}
	}
	return found
}

// apart says whether two texts are about different things by their contrasts. Of whole clauses, which name much beside their subject, a word
// on one side alone tells only plans and times apart.
func (l *language) apart(a, b []mark, clauses bool) bool {
	for n, c := range l.contrasts {
		if clauses && c.name == "money" {
			continue
		}
		left, right := c.groups(a, n), c.groups(b, n)
		switch {
		case left == 0 && right == 0:
		case left == 0 || right == 0:
			if c.hard && (!clauses || c.name == "plan" || c.name == "phase") {
				return true
			}
		case left&right == 0:
			return true
		}
	}
	return false
}

// contrasted says whether words tell two things apart: the north hall and the south hall.
func (l *language) contrasted(marks []mark) bool {
	return slices.ContainsFunc(marks, func(a mark) bool {
		return slices.ContainsFunc(marks, func(b mark) bool {
			return a.contrast == b.contrast && a.group != b.group && l.contrasts[a.contrast].hard
		})
	})
}

// groups is a set of the groups of a contrast that marks say, a bit each.
func (c contrast) groups(marks []mark, n int) (set uint64) {
	for _, m := range marks {
		if m.contrast == n {
			set |= 1 << m.group
		}
	}
	if set == 0 && c.absent >= 0 {
		set = 1 << c.absent
	}
	return set
}

// apartSets says whether two sets of groups have something in them, and nothing in common.
func apartSets(a, b uint64) bool { return a != 0 && b != 0 && a&b == 0 }
