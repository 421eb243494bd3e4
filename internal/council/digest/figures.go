package digest

import (
	"slices"
	"strings"
)

// figures lists the sentences with quantities, those first that give the same quantity otherwise elsewhere.
func figures(t talk) []finding {
	var against, plain []finding
	paired := map[int]bool{}
	for _, r := range rivals(t) {
		against = append(against, r)
		paired[r.at], paired[r.rival.at] = true, true
	}
	for i, s := range t.sentences {
		if len(s.figures) > 0 && !paired[i] && !slices.ContainsFunc(plain[max(0, len(plain)-mostBefore):], func(f finding) bool { return repeats(t, f, i) }) {
			plain = append(plain, finding{at: i, figures: s.figures})
		}
	}
	return append(against, distinct(t, plain)...)
}

// repeats says whether a sentence only gives the quantities of a finding again.
func repeats(t talk, f finding, i int) bool {
	s := t.sentences[i]
	for _, q := range s.figures {
		if !slices.ContainsFunc(f.figures, func(o quantity) bool {
			return o.kind == q.kind && o.value == q.value && (o.text == q.text || q.kind != date)
		}) {
			return false
		}
	}
	return s.figures[0].value >= 10 || shares(s.stems, t.sentences[f.at].stems) > 0
}

// rivals finds quantities that are said twice with two numbers, in two sentences.
func rivals(t talk) []finding {
	type place struct {
		at     int
		figure quantity
	}
	by := map[string][]place{} // by stem of the subject
	var found []finding
	used := map[[2]int]bool{}
	for i, s := range t.sentences {
		for _, q := range s.figures {
			here := place{i, q}
			for _, stem := range q.subject {
				for _, before := range by[stem] {
					pair := [2]int{before.at, i}
					if before.at != i && !used[pair] && isRival(before.figure, q) {
						used[pair] = true
						found = append(found, finding{at: before.at, figures: []quantity{before.figure}, rival: &finding{at: i, figures: []quantity{q}}})
					}
				}
			}
			for _, stem := range q.subject {
				if len(by[stem]) < mostHolding {
					by[stem] = append(by[stem], here)
				}
			}
		}
	}
	return found
}

// isRival says whether two quantities are of the same kind and subject and have different values.
func isRival(p, q quantity) bool {
	if p.value == q.value || !comparable(p, q) {
		return false
	}
	n := shares(p.subject, q.subject)
	least, all := min(len(p.subject), len(q.subject)), len(p.subject)+len(q.subject)-n
	if n == 1 {
		return least == 1 && (all <= 3 || strings.HasPrefix(p.kind, counted))
	}
	return n > 1 && float64(n) >= 0.6*float64(least) && float64(n) >= 0.4*float64(all)
}

// comparable says whether two quantities have the same unit. A bare number from a thousand on may be money.
func comparable(p, q quantity) bool {
	if p.kind == q.kind {
		return !slices.Contains([]string{date, clock, year}, p.kind)
	}
	bare := func(a, b quantity) bool { return a.kind == number && a.value >= 1000 && b.kind == money }
	return bare(p, q) || bare(q, p)
}
