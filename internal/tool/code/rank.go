package code

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"sibyl/internal/text/search"
)

// How the ranking works. First every file is scored over the terms in it and in its path; the weight of a term is its rarity among the files times what
// the question gives it. The best files are then cut into units: definitions with their comments, down to constants and fields, sections of documents,
// and stretches of lines outside all. Each unit is scored by BM25F over its fields (name, owner, comment, signature, comments inside, body) with the
// rarity of the terms among units, times how much of the question it holds, how close together, and how much of it its name says. What kind of file it
// is and the paths that the question names raise or lower all units of a file.
const (
	fileLength = 0.3    // how much a long file must repeat a term
	pathBonus  = 0.6    // a term in a path, as a share of a full match
	pathField  = 0.2727 // and in the score of a file
	hintBonus  = 1.5    // for a path that the question names
)

// weigh gives each term its weight by how many of all files hold it.
func (s *lookup) weigh() {
	s.weights = make(search.Weights, len(s.query.terms))
	for t, q := range s.query.terms {
		strong, weak := 0, 0
		for i := range s.tallies {
			switch n := s.tallies[i].terms[t]; {
			case n >= int32(aliasMatch):
				strong++
			case n > 0:
				weak++
			}
		}
		if strong+weak == 0 {
			s.missing = append(s.missing, q.word)
			continue
		}
		df := float64(strong) + float64(weak)/4
		s.weights[t] = s.asked(t) * search.Rarity(float64(s.files), df)
	}
}

// asked is what the question itself gives a term.
func (s *lookup) asked(t int) float64 {
	q := s.query.terms[t]
	if i := slices.Index(s.query.hints, q.path); i >= 0 && s.hintSeen[i] {
		return q.weight * partWeight
	}
	return q.weight
}

// bestFiles scores all files with a match and gives the best, best first. Of equal scores those come first that did before.
func (s *lookup) bestFiles() (best []tally) {
	if s.files == 0 {
		return nil
	}
	s.weigh()
	all := s.weights.Total()
	usual := float64(s.bytes)/float64(s.files) + 1
	value, covered := make([]float64, len(s.weights)), make([]float64, len(s.weights))
	most := max(candidates, s.limit)
	for i := range s.tallies {
		f := &s.tallies[i]
		inPath := s.termsInPath(f.path)
		for t, n := range f.terms {
			x := float64(n) / float64(exactMatch)
			value[t] = search.Saturated(x, float64(f.size)/usual, fileLength) + inPath[t]*pathField
			covered[t] = min(1, max(x, inPath[t]))
		}
		f.score = s.weights.Sum(value) * s.weights.Sum(covered) / all
		hint := s.hintFactor(f.path)
		if len(best) == most && f.score*hint <= best[most-1].score { // its rank, which is 1 at most, makes it no better
			continue
		}
		f.score = f.score * rankOfPath(f.path, s.query.tests) * hint
		best = within(best, *f, most, func(a, b tally) int { return cmp.Compare(b.score, a.score) })
	}
	if len(best) > 0 {
		s.top = best[0].score
	}
	return best
}

// within puts something among the best, of which so many are kept. Compare puts better ones first; of equal ones those stay first that came first.
func within[T any](best []T, some T, most int, compare func(a, b T) int) []T {
	if len(best) == most && compare(some, best[most-1]) >= 0 {
		return best
	}
	at, _ := slices.BinarySearchFunc(best, some, func(b, some T) int {
		if compare(b, some) <= 0 {
			return -1
		}
		return 1
	})
	return slices.Insert(best[:min(len(best), most-1)], at, some)
}

// termsInPath gives for each term how well it matches a folder or the name of the file, 0 to 1.
func (s *lookup) termsInPath(at string) []float64 {
	in := make([]float64, len(s.query.terms))
	scanner, ok := s.finder.(*scanner)
	if !ok {
		return in
	}
	padded := append([]byte(strings.TrimSuffix(at, path.Ext(at))), make([]byte, search.Padding)...)
	scanner.find(padded[:len(padded)-search.Padding], func(m match) {
		in[m.term] = max(in[m.term], float64(m.strength)/float64(exactMatch))
	})
	return in
}

func (s *lookup) hintFactor(at string) float64 {
	best := 0.0
	for _, hint := range s.query.hints {
		best = max(best, hintFit(hint, at))
	}
	return 1 + hintBonus*best
}

// hintFit says how well a file's path fits a path or package that the question names, 0 to 1.
func hintFit(hint, at string) float64 {
	low := strings.ToLower(at)
	dir, name := path.Split(low)
	dir = "/" + dir // "/net/http/"
	switch {
	case "/"+low == "/"+hint, strings.HasSuffix(low, "/"+hint):
		return 1
	case strings.HasSuffix(dir, "/"+hint+"/"):
		return 1
	case strings.Contains(dir, "/"+hint+"/"):
		return 0.5
	case strings.TrimSuffix(name, path.Ext(name)) == hint:
		return 0.5
	}
	return 0
}
