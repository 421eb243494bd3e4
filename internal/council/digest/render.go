package digest

import (
	"fmt"
	"slices"
	"strings"
)

// most is how many findings of a kind are shown.
var most = [kinds]int{central: mostCentral, open: 5, claim: 5, figure: 6, decision: 5}

// writer writes a digest. Every sentence is quoted once, under a number that others refer to.
type writer struct {
	*language
	talk
	strings.Builder
	numbers map[int]int // of the sentences that are quoted
}

// render writes what was found, in the order in which the persona looks for it.
func (l *language) render(p Frame, t talk) string {
	w := writer{language: l, talk: t, numbers: map[int]int{}}
	fmt.Fprintf(&w, "*%s*\n", l.say["made"])
	if len(t.sentences) == 0 {
		fmt.Fprintf(&w, "\n%s\n", l.say["nothing"])
		return w.String()
	}
	lenses := l.lenses(p.Content)
	var shown [kinds][]finding
	listed := 0
	for k := range kinds {
		shown[k] = t.chosen(k)
		listed += len(shown[k])
	}
	for _, k := range order(lenses) {
		w.section(k, shown[k], len(t.found[k])-len(shown[k]))
	}
	if listed == 0 {
		fmt.Fprintf(&w, "\n%s\n", l.say["few"])
	}
	w.frame(p, lenses, shown)
	return w.String()
}

// order is in which order the kinds are shown: what is central, then what the persona asks for, as it asks.
func order(lenses []lens) []kind {
	list := []kind{central}
	for _, l := range lenses {
		if l.known && !slices.Contains(list, l.kind) {
			list = append(list, l.kind)
		}
	}
	for k := range kinds {
		if !slices.Contains(list, k) {
			list = append(list, k)
		}
	}
	return list
}

// chosen picks the findings of a kind that are shown: the most central ones, in the order in which they were said.
func (t talk) chosen(k kind) []finding {
	all := t.found[k]
	if len(all) <= most[k] {
		return all
	}
	ranked := slices.Clone(all)
	slices.SortStableFunc(ranked, func(a, b finding) int {
		switch {
		case (a.rival != nil) != (b.rival != nil):
			if a.rival != nil {
				return -1
			}
			return 1
		case t.worth[a.at] > t.worth[b.at]:
			return -1
		case t.worth[a.at] < t.worth[b.at]:
			return 1
		}
		return a.at - b.at
	})
	ranked = ranked[:most[k]]
	if k != central {
		slices.SortStableFunc(ranked, func(a, b finding) int {
			if (a.rival != nil) != (b.rival != nil) {
				if a.rival != nil {
					return -1
				}
				return 1
			}
			return a.at - b.at
		})
	}
	return ranked
}

// section writes the findings of a kind; nothing if there are none.
func (w *writer) section(k kind, list []finding, left int) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(w, "\n## %s\n\n", w.say[kindNames[k]])
	for _, f := range list {
		fmt.Fprintf(w, "- %s%s\n", w.reason(k, f), w.quotations(f))
	}
	if left > 0 {
		fmt.Fprintf(w, "- %s\n", fmt.Sprintf(w.say["more"], left))
	}
}

// reason says why a finding is listed.
func (w *writer) reason(k kind, f finding) string {
	switch {
	case f.rival != nil:
		return "**" + fmt.Sprintf(w.say["against"], f.figures[0].text, f.rival.figures[0].text) + "**: "
	case k == figure:
		var said []string
		for _, q := range f.figures {
			if !slices.Contains(said, q.text) {
				said = append(said, q.text)
			}
		}
		return "**" + strings.Join(said, ", ") + "**: "
	case k == claim:
		return fmt.Sprintf("**%s** (%s): ", f.word, w.say[f.why])
	}
	return ""
}

func (w *writer) quotations(f finding) string {
	if f.rival != nil {
		return w.quotation(f.at) + "; " + w.quotation(f.rival.at)
	}
	return w.quotation(f.at)
}

// quotation quotes a sentence with its place, or refers to it where it is quoted.
func (w *writer) quotation(at int) string {
	s := w.sentences[at]
	if n := w.numbers[at]; n > 0 {
		return w.inMarks(opening(s)) + " " + fmt.Sprintf(w.say["see"], n)
	}
	w.numbers[at] = len(w.numbers) + 1
	return fmt.Sprintf("[%d] %s (%s)", w.numbers[at], w.inMarks(s.text), w.source(s.entry))
}

func (w *writer) source(entry int) string {
	e := w.entries[entry]
	n := e.Sequence
	if n == 0 {
		n = entry + 1
	}
	return fmt.Sprintf(w.say["transcript"], n)
}

func (l *language) inMarks(text string) string {
	before, after, _ := strings.Cut(l.say["quotes"], " ")
	return before + text + after
}

// opening is how a sentence begins, to be known again by.
func opening(s sentence) string {
	const few = 6
	fields := strings.Fields(s.text)
	if len(fields) <= few+1 {
		return s.text
	}
	return strings.TrimRight(strings.Join(fields[:few], " "), ",;:") + ellipsis
}

// frame writes the instructions of the persona as questions to put to oneself.
func (w *writer) frame(p Frame, lenses []lens, shown [kinds][]finding) {
	if len(lenses) == 0 {
		return
	}
	fmt.Fprintf(w, "\n## %s\n\n", fmt.Sprintf(w.say["frame"], oneLine(p.Name)))
	for _, l := range lenses {
		fit := w.fitting(l, shown)
		if len(fit) == 0 {
			none := "model"
			if l.known {
				none = "none here"
			}
			fmt.Fprintf(w, "- **%s** — %s\n", strings.TrimRight(l.text, ".:;"), w.say[none])
			continue
		}
		var quotes []string
		for _, f := range fit {
			quotes = append(quotes, w.quotations(f))
		}
		fmt.Fprintf(w, "- **%s** %s %s\n", strings.TrimRight(l.text, ".:;"), w.question(l), strings.Join(quotes, "; "))
	}
}

// question turns an instruction into a question; one that asks already stays as it is.
func (w *writer) question(l lens) string {
	if strings.HasSuffix(l.text, "?") {
		return "—"
	}
	k := central
	if l.known {
		k = l.kind
	}
	return "— " + w.say["ask "+kindNames[k]]
}
