package rules

import "slices"

// extra gives the stems of a statement that restrict it beside another one: those of neither the other's clause and question nor the
// hypothesis, and of no word that only says that something is had, measured or counted. Places behind the number count if strict.
func (c *Case) extra(a, b *statement, strict bool) []string {
	var out []string
	behind := false
	for i, t := range a.clause {
		behind = behind || t.from >= a.words[0].from
		if !strict && behind && c.l.classes["place"].at(a.clause, i) > 0 && !c.l.is("restricts", t.norm) {
			break
		}
		if !t.word || t.isFigure() || c.l.isFunction(t.norm) || c.l.numbers[t.norm] != 0 || t.from >= a.words[0].from && t.to <= a.words[len(a.words)-1].to {
			continue
		}
		stem := c.l.stemOf(t)
		known := slices.Contains(b.key, stem) || slices.Contains(b.question.stems, stem) || slices.Contains(c.claim.stems, stem) || slices.Contains(a.quantity.counts, stem)
		known = known || c.l.is("organisation", t.norm) && !c.l.has("organisation", b.clause) // who pays
		if !known && !c.l.is("measuring", t.norm) && !c.l.is("hedge", t.norm) && len(c.l.marks[t.norm]) == 0 {
			out = append(out, stem)
		}
	}
	return out
}

// head gives the stem of the noun that a clause is about: the last word before its first verb or preposition, or "" if it has none of its own.
func (c *Case) head(s *statement) string {
	head := ""
	for i, t := range s.clause {
		switch {
		case !t.word || t.isFigure():
			return head
		case c.l.isFunction(t.norm) || c.l.is("state verbs", t.norm) || c.l.is("measuring", t.norm):
			if head != "" {
				return head
			}
		case c.l.code == "de" && !t.upper:
			if head != "" {
				return head
			}
		case i > 0 && head != "" && c.l.isVerbLike(t):
			return head
		default:
			head = c.l.stemOf(t)
		}
	}
	return head
}

// oneSubject says whether two numbers are of the same thing, not of a part of it, and whether that is firm. What is counted may be a part by
// any word that restricts it; what is measured, by what it is a measure of.
func (c *Case) oneSubject(a, b *statement) (same, firm bool) {
	left, right := c.extra(a, b, true), c.extra(b, a, true)
	firm = len(left) == 0 && len(right) == 0
	if firm {
		return true, true
	}
	left, right = c.extra(a, b, false), c.extra(b, a, false)
	none := len(left) == 0 && len(right) == 0
	if a.quantity.unit == "" {
		return none, false
	}
	return c.holds(a, c.head(b)) && c.holds(b, c.head(a)), none && c.head(a) == c.head(b)
}

// holds says whether a statement is about what another one is about, which may also be somebody who pays for it.
func (c *Case) holds(s *statement, head string) bool {
	return head == "" || slices.Contains(s.key, head) || slices.Contains(c.claim.topic, head) || c.l.is("organisation", head)
}
