package rules

import (
	"slices"
	"strings"
)

// names finds proper names in a sentence, each in lower case with single blanks. In English a word is one by its capital letter within the
// sentence; in German, where nouns have one too, by a second name, a title or a first name.
func (l *language) names(list []token) []string {
	var found []string
	for i := 0; i < len(list); {
		n, titled := l.nameAt(list, i)
		if n == 0 {
			i++
			continue
		}
		var words []string
		for _, t := range list[i+titled : i+n] {
			if t.word {
				words = append(words, strings.TrimSuffix(t.norm, "'s"))
			}
		}
		name := strings.Join(words, " ")
		if name != "" && !slices.Contains(found, name) {
			found = append(found, name)
		}
		i += n
	}
	return found
}

// nameAt is how many tokens a name has that begins at i, and how many of them are titles.
func (l *language) nameAt(list []token, i int) (length, titles int) {
	at := i
	for at < len(list) && list[at].upper && l.is("title", list[at].norm) {
		at++
		if at < len(list) && list[at].norm == "." {
			at++
		}
	}
	titles = at - i
	end := at
	for end < len(list) {
		t := list[end]
		if t.word && t.upper && l.mayName(t) && (end == at || !l.is("role", t.norm)) {
			end++
			continue
		}
		if l.isInitial(list, end) {
			end += 2
			continue
		}
		if end > at && (t.norm == "von" || t.norm == "van" || t.norm == "de") && end+1 < len(list) && list[end+1].upper && l.mayName(list[end+1]) {
			end += 2
			continue
		}
		break
	}
	n := end - at
	switch {
	case n == 0:
		return 0, 0
	case titles > 0:
		return end - i, titles
	case l.isFirstName(list[at].norm):
		return n, 0
	case l.code == "de":
		if n == 2 && !l.afterArticle(list, at) && (at > 0 || !l.isAdjective(list[at].norm)) && !l.is("organisation", list[at].norm) && !l.is("role", list[at].norm) {
			return n, 0
		}
		return 0, 0
	case n == 1 && (at == 0 || !list[at-1].word && list[at-1].norm != ","):
		return 0, 0 // any word has a capital letter there
	}
	return n, 0
}

func (l *language) mayName(t token) bool {
	return !l.isFunction(t.norm) && l.months[t.norm] == 0 && !l.is("weekday", t.norm) && !l.is("season", t.norm) && !l.isUnit(t.norm) && t.norm != "i"
}

func (l *language) isUnit(word string) bool { _, ok := l.units[word]; return ok }

func (l *language) isInitial(list []token, i int) bool {
	return i+2 < len(list) && list[i].upper && len(list[i].norm) == 1 && list[i+1].norm == "." && list[i+2].upper
}

func (l *language) isFirstName(word string) bool {
	return l.is("male name", word) || l.is("female name", word)
}

func (l *language) afterArticle(list []token, at int) bool {
	return at > 0 && list[at-1].word && l.is("article", list[at-1].norm)
}

// sameName says whether two names may be of the same person: “Anna Weber” and “Weber”.
func sameName(a, b string) bool {
	for w := range strings.FieldsSeq(a) {
		for o := range strings.FieldsSeq(b) {
			if w == o {
				return true
			}
		}
	}
	return false
}

// isAdjective says whether a German word ends as adjectives before a noun do: at the beginning of a sentence a capital letter tells nothing.
func (l *language) isAdjective(word string) bool {
	for _, end := range []string{"e", "en", "er", "es", "em"} {
		if strings.HasSuffix(word, end) {
			return true
		}
	}
	return false
}
