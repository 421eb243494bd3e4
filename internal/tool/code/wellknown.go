package code

import (
	_ "embed"
	"math"
	"path"
	"slices"
	"strings"
	"sync"

	"sibyl/internal/text/search"
)

// fileKind is a kind of file that stands beside the code of many projects, such as a licence or a list of dependencies.
// People ask for one by words that need not be in it.
type fileKind struct {
	settings bool     // keys with values; otherwise one text
	manifest bool     // settings that say what the project needs
	words    string   // by which people ask for one
	names    []string // patterns in lower case; one with a slash is for the end of a path
}

const (
	belowRoot   = 0.8 // what is left of a fit for each folder above a file
	leastCalled = float64(aliasMatch) / float64(exactMatch)
)

//go:embed wellknown.txt
var wellKnownText string

var wellKnown = sync.OnceValue(func() (kinds []*fileKind) {
	ofManifests := ""
	for line := range strings.Lines(wellKnownText) {
		switch parts := strings.Split(strings.TrimSpace(line), " | "); {
		case parts[0] == "every manifest":
			ofManifests = " " + parts[1]
		case parts[0] == "manifest":
			kinds = append(kinds, &fileKind{true, true, parts[1] + ofManifests, strings.Fields(parts[2])})
		case len(parts) == 3:
			kinds = append(kinds, &fileKind{parts[0] == "settings", false, parts[1], strings.Fields(parts[2])})
		}
	}
	return kinds
})

// fileKindOf is the kind of a file by its path; nil for most files. What is written as code or data is no prose,
// whatever it is called.
func fileKindOf(at string) *fileKind {
	low := strings.ToLower(at)
	base := path.Base(low)
	for _, k := range wellKnown() {
		if slices.ContainsFunc(k.names, func(name string) bool { return isCalled(low, base, name) }) {
			if l := languageOf(at, nil); !k.settings && l.name != "Markdown" && l.name != "Text" &&
				l != languages().unknown {
				return nil
			}
			return k
		}
	}
	return nil
}

// isCalled says whether a path ends in a name of the table; base is its last part.
func isCalled(at, base, name string) bool {
	if !strings.Contains(name, "*") {
		if rest, found := strings.CutPrefix(base, name); found {
			return rest == "" || strings.ContainsRune(".-_", rune(rest[0]))
		}
		return strings.Contains(name, "/") && (at == name || strings.HasSuffix(at, "/"+name))
	}
	for n := strings.Count(name, "/"); n > 0; n-- {
		dir := strings.TrimSuffix(strings.TrimSuffix(at, base), "/")
		base = at[strings.LastIndexByte(dir, '/')+1:]
	}
	matched, _ := path.Match(name, base) // a test reads the patterns
	return matched
}

// calledAs gives for each kind how well each term matches the words by which people ask for it, if one does. A word
// that says little names no file, as in “how do I make it longer?”.
func (s *lookup) calledAs() map[*fileKind][]float64 {
	called := map[*fileKind][]float64{}
	for _, k := range wellKnown() {
		in := s.matchName(k.words)
		for t, how := range in {
			if how < leastCalled || s.query.terms[t].weight <= fillerWeight {
				in[t] = 0
			}
		}
		if slices.Max(in) > 0 {
			called[k] = in
		}
	}
	return called
}

// versionTerm is the index of the term that asks for a version, -1 if none does.
func (q *queryWords) versionTerm() int {
	return slices.IndexFunc(q.terms, func(t term) bool { return t.stem == search.Stem("version") })
}

// versionNumber matches the number of a version, and one that a comparison is made with.
var versionNumber = pattern(`[0-9]+(?:\.[0-9x*]+)+|[~^<>=] ?[0-9]+`)

// find finds the terms in the text of a file. In settings, a number of a version also is what the word asks for.
func (s *lookup) find(k *fileKind, text []byte, emit func(match)) {
	t := s.query.versionTerm()
	if k == nil || !k.settings || t < 0 {
		s.finder.find(text, emit)
		return
	}
	numbers := versionNumber().FindAllIndex(text, -1)
	emitUpTo := func(end int) {
		for ; len(numbers) > 0 && numbers[0][0] < end; numbers = numbers[1:] {
			emit(match{start: numbers[0][0], end: numbers[0][1], term: t, strength: exactMatch, isNumber: true})
		}
	}
	s.finder.find(text, func(m match) {
		emitUpTo(m.start)
		emit(m)
	})
	emitUpTo(len(text))
}

// settingKey matches the key with which a line of settings begins: a word, and no path.
var settingKey = pattern(`^[\s"'<\[-]*([\w.-]+)(?:[^\w./-]|$)`)

// isInKey says whether a match is in the key of a line of settings.
func isInKey(line []byte, column int) bool {
	key := settingKey().FindSubmatchIndex(line)
	return key != nil && key[2] <= column && column < key[3]
}

// fitOf says how much of the question asks for a file of this kind, 0 to 1. covered is how much of each term the file
// holds. Nothing in prose counts but what it is called.
func (s *lookup) fitOf(f *tally, covered []float64) float64 {
	switch {
	case f.kind == nil:
		return 0
	case !f.kind.settings:
		covered = f.called
	}
	share := s.weights.Sum(covered) / s.weights.Total()
	depth := 0
	for part := range strings.SplitSeq(path.Dir(f.path), "/") {
		if !strings.HasPrefix(part, ".") {
			depth++
		}
	}
	return share * math.Pow(belowRoot, float64(depth))
}
