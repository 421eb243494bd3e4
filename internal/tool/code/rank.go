package code

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"sibyl/internal/text/search"
)

// How the ranking works. First every file is scored over the terms in it and in its path; the weight of a term is its
// rarity among the files times what the question gives it. The best files are then cut into units: definitions with
// their comments, down to constants and fields, sections of documents, and stretches of lines outside all. Each unit is
// scored by BM25F over its fields (name, comment above, comments inside, body) with the rarity of the terms among
// units, times how much of the question it holds, how close together, and how much of it its name says. What kind of
// file it is and the paths that the question names raise or lower all units of a file.
const (
	fileStrictness = 0.3 // how much more often a long file must repeat a term
	hintBonus      = 1.5 // for a path that the question names
)

// weighTermsByFiles sets the weight of each term by how many files hold it, and notes the words that are in no file. A
// weak match counts as a quarter.
func (s *lookup) weighTermsByFiles() {
	s.weights = make(search.Weights, len(s.query.terms))
	for t, q := range s.query.terms {
		holding := 0.0
		for _, f := range s.tallies {
			switch n := f.terms[t]; {
			case n >= int32(aliasMatch), f.called != nil && f.called[t] > 0:
				holding++
			case n > 0:
				holding += 0.25
			}
		}
		if holding == 0 {
			if !q.isGuessed {
				s.missing = append(s.missing, q.word)
			}
			continue
		}
		s.weights[t] = q.weight * search.Rarity(float64(s.files), holding)
	}
}

// bestFiles scores all files with a match, and returns the best ones, the best first. Equal scores keep their order.
func (s *lookup) bestFiles() []tally {
	s.weighTermsByFiles()
	all := s.weights.Total()
	usual := float64(s.bytes)/float64(max(s.files, 1)) + 1
	value, covered := make([]float64, len(s.weights)), make([]float64, len(s.weights))
	for i := range s.tallies {
		f := &s.tallies[i]
		inPath := s.matchName(strings.TrimSuffix(f.path, path.Ext(f.path)))
		for t, n := range f.terms {
			x, named := float64(n)/float64(exactMatch), inPath[t]
			if f.called != nil {
				named = max(named, f.called[t])
			}
			value[t] = search.Saturated(x, float64(f.size)/usual, fileStrictness)
			covered[t] = min(1, max(x, named))
		}
		f.fit = s.fitOf(f, covered)
		f.score = s.weights.Sum(value) * s.weights.Sum(covered) / all * s.rankOf(f.path, f.fit)
	}
	best := slices.Clone(s.tallies)
	slices.SortStableFunc(best, func(a, b tally) int { return cmp.Compare(b.score, a.score) })
	if len(best) > 0 {
		s.top = best[0].score
	}
	return best[:min(len(best), max(candidates, s.limit))]
}

// matchName returns for each term how well it matches a name, 0 to 1.
func (s *lookup) matchName(name string) []float64 {
	in := make([]float64, len(s.query.terms))
	if scanner, ok := s.finder.(*scanner); ok {
		padded := append([]byte(name), make([]byte, search.Padding)...)
		scanner.find(padded[:len(name)], func(m match) {
			in[m.term] = max(in[m.term], float64(m.strength)/float64(exactMatch))
		})
	}
	return in
}

// rankOf says by its path how likely a file is to hold an answer. fit is how much of the question asks for its kind,
// which counts as much as a path that the question names.
func (s *lookup) rankOf(at string, fit float64) float64 {
	format := rankOfFormat(at)
	return rankOfPlace(at, s.query.aboutTests) * (format + (1-format)*fit) * max(s.hintFactor(at), 1+hintBonus*fit)
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
	case low == hint, strings.HasSuffix(low, "/"+hint), strings.HasSuffix(dir, "/"+hint+"/"):
		return 1
	case strings.Contains(dir, "/"+hint+"/"), strings.TrimSuffix(name, path.Ext(name)) == hint:
		return 0.5
	}
	return 0
}
