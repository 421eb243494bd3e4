package understand

import "strings"

func splitWords(s string) []string { return strings.Fields(s) }

// known says whether a language has a word in any class.
func (x *lexicon) known(w string) bool { return len(x.entries[w]) > 0 }

// misspelled is the verb of a command that a word is one letter from; "" if there is none, or if the word is one of the language.
func (r *reader) misspelled(i int) string {
	if i >= len(r.tokens) || r.tokens[i].kind != word || r.tokens[i].quoted {
		return ""
	}
	w := r.tokens[i].norm
	if len(w) < 3 || r.lex.known(w) {
		return ""
	}
	for _, v := range r.lex.verbs {
		if v[0] != w[0] && v[1] != w[1] {
			continue
		}
		if nearly(w, v) {
			return v
		}
	}
	return ""
}

// misspelt are the entries of a word that is a letter or two from one of the list's own nouns, or from the first word of a phrase that goes on
// as it is spelled: "taskss", "remidn me to".
func (x *lexicon) misspelt(w string, tokens []token) (list []entry) {
	numbered := len(tokens) > 1 && tokens[1].kind == number
	if len(w) < 3 || len(w) < 4 && !numbered {
		return nil
	}
	for _, p := range x.phrases {
		short := numbered && len(w) == 3 && len(p) == 4 && p[0] == w[0] && oneLess(w, p) // "tsk 2"
		if p[0] != w[0] && p[1] != w[1] || !nearly(w, p) && !twice(w, p) && !short {
			continue
		}
		core := x.isCore(p)
		for _, e := range x.entries[p] {
			if len(e.rest) > 0 && e.matches(tokens) || len(e.rest) == 0 && core {
				list = append(list, e)
			}
		}
	}
	return list
}

func (x *lexicon) isCore(w string) bool {
	for _, c := range strings.Fields(x.core) {
		if fold(c) == w {
			return true
		}
	}
	return false
}

// oneLess says whether a word is another one without one of its letters.
func oneLess(w, p string) bool {
	for i := range p {
		if p[:i]+p[i+1:] == w {
			return true
		}
	}
	return false
}

// twice says whether two long words that begin alike differ by two letters.
func twice(a, b string) bool {
	if len(a) < 6 || len(b) < 6 || a[0] != b[0] || len(a)-len(b) > 2 || len(b)-len(a) > 2 {
		return false
	}
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	x, y := a[i:], b[i:]
	rest := func(x, y string) bool {
		return x == y || nearly(x, y) || len(x) > 1 && len(x) == len(y) && x[1:] == y[1:]
	}
	switch {
	case x == "" || y == "":
		return len(x)+len(y) <= 2
	case len(x) > 1 && len(y) > 1 && x[0] == y[1] && x[1] == y[0] && rest(x[2:], y[2:]):
		return true
	}
	return rest(x[1:], y[1:]) || rest(x, y[1:]) || rest(x[1:], y)
}

// nearly says whether two words differ by one letter: left out, added, doubled, or two swapped; in longer words also by another letter. Of short
// words too many are each other's neighbours.
func nearly(a, b string) bool {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	x, y := a[i:], b[i:]
	switch len(a) - len(b) {
	case 0:
		swapped := len(a) > 3 && len(x) > 1 && x[0] == y[1] && x[1] == y[0] && x[2:] == y[2:]
		return swapped || i > 0 && len(x) > 0 && len(a) > 5 && x[1:] == y[1:]
	case 1:
		return x[1:] == y && (len(a) > 5 || i > 0 && x[0] == a[i-1])
	case -1:
		return x == y[1:] && (len(b) > 4 || i > 0 && y[0] == b[i-1])
	}
	return false
}

// doubtTypo makes a command by a misspelled verb less sure; much less where its object could be anything.
func (r *reader) doubtTypo(out []Result) {
	for i := range out {
		c := &out[i]
		c.Reasoning += ", its verb misspelled"
		if ref := c.Entities.Reference; ref != nil && ref.Title != "" && c.Intent != List {
			c.Confidence -= 0.2
			c.Alternatives = append(c.Alternatives, Alternative{Create, bare, Entities{Title: r.title(span{0, len(r.tokens)})}})
		} else {
			c.Confidence -= 0.02
		}
	}
}
