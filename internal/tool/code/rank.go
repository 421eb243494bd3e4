package code

import (
	"bytes"
	"cmp"
	"math"
	"path"
	"slices"
	"strings"

	"sibyl/internal/search"
)

// How the ranking works. First every file is scored over the terms in it and in its path; the weight of a term is its rarity among the files times what
// the question gives it. The best files are then cut into passages, one per definition with its comment, and each
// passage is scored by the same weights: which terms it holds, how many of them (coverage), how close to each other
// (proximity) and how many of them in its name. What kind of file it is and the paths that the question names raise or
// lower all passages of a file.
const (
	fileLength   = 0.3 // how much a long file must repeat a term
	spanLength   = 0.5
	usualSpan    = 25.0 // lines
	nearby       = 6    // lines in which terms count as close
	inName       = 4.0  // a match in a definition's name counts as so many
	inComment    = 1.5  // and one in the comment above it
	nameBonus    = 1.5
	nearBonus    = 0.8
	coverBonus   = 1.0
	pathBonus    = 0.6    // a term in a path, as a share of a full match
	pathField    = 0.2727 // and in the score of a file
	hintBonus    = 1.5    // for a path that the question names
	mentionBonus = 0.5    // for a definition that it names
	sameDirTwin  = 0.5    // what is left for a definition of the same name as a better one
	otherDirTwin = 0.8
	looseLines   = 40 // lines of a passage outside all definitions
)

// weigh gives each term its weight, now that it is known in how many files it is.
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
		weight := q.weight
		if i := slices.Index(s.query.hints, q.path); i >= 0 && s.hintSeen[i] {
			weight *= partWeight
		}
		s.weights[t] = weight * search.Rarity(float64(s.files), df)
	}
}

// bestFiles scores all files with a match and gives the best, best first.
func (s *lookup) bestFiles() []tally {
	if s.files == 0 {
		return nil
	}
	s.weigh()
	all := s.weights.Total()
	usual := float64(s.bytes)/float64(s.files) + 1
	value, covered := make([]float64, len(s.weights)), make([]float64, len(s.weights))
	for i := range s.tallies {
		f := &s.tallies[i]
		inPath := s.inPath(f)
		for t, n := range f.terms {
			x := float64(n) / float64(exactMatch)
			value[t] = search.Saturated(x, float64(f.size)/usual, fileLength) + inPath[t]*pathField
			covered[t] = min(1, max(x, inPath[t]))
		}
		f.score = s.weights.Sum(value) * s.weights.Sum(covered) / all * s.rankOfFile(f) * s.hintFactor(f.path)
		s.top = max(s.top, f.score)
	}
	return foremost(s.tallies, candidates)
}

// foremost gives the best of the tallies, at most so many. Of equal scores those come first that did before.
func foremost(tallies []tally, most int) []tally {
	var best []tally
	for i := range tallies {
		if len(best) == most && tallies[i].score <= best[most-1].score {
			continue
		}
		at, _ := slices.BinarySearchFunc(best, tallies[i].score, func(b tally, score float64) int {
			if b.score >= score {
				return -1
			}
			return 1
		})
		best = slices.Insert(best, at, tallies[i])
		best = best[:min(len(best), most)]
	}
	return best
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

// passage is a definition, or a stretch of lines outside all, that was found and scored.
type passage struct {
	path, text   string
	line         int // the best line
	start, end   int
	symbol, kind string
	terms        []int
	score        float64
}

func comparePassages(a, b passage) int {
	return cmp.Or(cmp.Compare(b.score, a.score), strings.Compare(a.path, b.path), cmp.Compare(a.line, b.line))
}

// span gathers the matches of one passage.
type span struct {
	def        *definition // nil outside all
	start, end int
	matches    []spot
}

// spot is a match by line.
type spot struct {
	line, column, term int     // the column counts bytes from 0
	strength           float64 // 0 to 1
	factor             float64 // for where it stands: name, comment, body
}

// passages cuts a file into spans and scores those in which something was found.
func (s *lookup) passages(file tally, src *source) []passage {
	factor := rankOfPath(file.path, s.query.tests) * rankOfContent(src.text) * s.hintFactor(file.path)
	if s.top > 0 {
		factor *= 1 + file.score/s.top
	}
	inPath := s.termsInPath(file.path)
	var out []passage
	for _, sp := range s.spans(src) {
		if len(sp.matches) == 0 {
			continue
		}
		p := s.score(&sp, inPath)
		p.path, p.score = file.path, (p.score+s.mentioned(sp.def, file.path))*factor*rankOfAge(file.path, p.start, len(src.lines))
		i := slices.IndexFunc(sp.matches, func(m spot) bool { return m.line == p.line })
		p.text = excerpt(src.line(p.line), sp.matches[i].column)
		out = append(out, p)
	}
	slices.SortFunc(out, comparePassages)
	return out
}

// mentioned is what a definition gains when the question names it: all of it when its owner is right too, be that a type
// or a package, and less when only the name is.
func (s *lookup) mentioned(d *definition, at string) float64 {
	bonus := 0.0
	for _, m := range s.query.named {
		switch {
		case d == nil || d.name != m.name:
		case m.owner == "", m.owner == d.container, hintFit(strings.ToLower(m.owner), at) > 0:
			bonus = mentionBonus
		default:
			bonus = max(bonus, mentionBonus/4)
		}
	}
	return bonus
}

// spread lowers what repeats a better passage: the same definition for another system, or a twin in another package.
func spread(passages []passage) {
	type name struct{ dir, symbol string }
	inDir, anywhere := map[name]int{}, map[string]int{}
	for i := range passages {
		p := &passages[i]
		if p.symbol == "" {
			continue
		}
		n := name{path.Dir(p.path), p.symbol}
		p.score *= math.Pow(sameDirTwin, float64(inDir[n])) * math.Pow(otherDirTwin, float64(anywhere[p.symbol]-inDir[n]))
		inDir[n]++
		anywhere[p.symbol]++
	}
	slices.SortFunc(passages, comparePassages)
}

// spans cuts a file: each line belongs to the innermost definition around it, or to a stretch outside all.
func (s *lookup) spans(src *source) []span {
	defs := outline(src)
	owner := make([]int, len(src.lines)+1) // by line: index into spans, plus 1
	var spans []span
	for i := range defs {
		d := &defs[i]
		if d.member {
			continue
		}
		spans = append(spans, span{def: d, start: d.doc, end: d.end})
		for line := d.doc; line <= d.end && line < len(owner); line++ {
			owner[line] = len(spans)
		}
	}
	for line := 1; line < len(owner); line++ {
		if owner[line] > 0 {
			continue
		}
		spans = append(spans, span{start: line})
		for ; line < len(owner) && owner[line] == 0 && line-spans[len(spans)-1].start < looseLines; line++ {
			owner[line] = len(spans)
			spans[len(spans)-1].end = line
		}
		line--
	}
	s.finder.find(src.text, func(m match) {
		line := src.lineAt(m.start)
		sp := &spans[owner[line]-1]
		sp.matches = append(sp.matches, spot{
			line: line, column: m.start - src.lines[line-1], term: m.term,
			strength: float64(m.strength) / float64(exactMatch), factor: sp.factorAt(src, line, m),
		})
	})
	return spans
}

func (sp *span) factorAt(src *source, line int, m match) float64 {
	switch d := sp.def; {
	case d == nil || line > d.line:
		return 1
	case line < d.line:
		return inComment
	default:
		at := bytes.Index(src.line(line), []byte(d.name))
		if from := m.start - src.lines[line-1]; at >= 0 && from >= at && from < at+len(d.name) {
			return inName
		}
		return 1
	}
}

// score scores a span with at least one match.
func (s *lookup) score(sp *span, inPath []float64) passage {
	n := len(s.query.terms)
	amount, best, named := make([]float64, n), make([]float64, n), make([]float64, n)
	for _, m := range sp.matches {
		amount[m.term] += m.strength * m.factor
		best[m.term] = max(best[m.term], m.strength)
		if m.factor == inName {
			named[m.term] = max(named[m.term], m.strength)
		}
	}
	p := passage{start: sp.start, end: sp.end}
	if sp.def != nil {
		p.symbol, p.kind = sp.def.symbol(), sp.def.kind
	}
	all := s.weights.Total()
	for t := range s.weights {
		if best[t] > 0 {
			p.terms = append(p.terms, t)
		}
		amount[t] = search.Saturated(amount[t], float64(sp.end-sp.start+1)/usualSpan, spanLength)
		best[t] = max(best[t], inPath[t]*pathBonus)
	}
	line, near := s.closest(sp.matches)
	p.line = line
	p.score = s.weights.Sum(amount) / all * (coverBonus*s.weights.Sum(best) + nearBonus*near + nameBonus*s.weights.Sum(named)) / all
	return p
}

// closest finds the few lines in which the terms meet best, and the best line of them. Matches are ordered by line.
func (s *lookup) closest(matches []spot) (line int, weight float64) {
	have := make([]float64, len(s.query.terms))
	bestLine, bestHere := 0, -1.0
	for from := range matches {
		if from > 0 && matches[from].line == matches[from-1].line {
			continue
		}
		clear(have)
		first := 0.0 // what the first line alone has
		for _, m := range matches[from:] {
			if m.line >= matches[from].line+nearby {
				break
			}
			have[m.term] = max(have[m.term], m.strength)
			if m.line == matches[from].line {
				first = s.weights.Sum(have)
			}
		}
		here := s.weights.Sum(have)
		weight = max(weight, here)
		// Among lines, the one that itself holds most wins; the window decides between equals.
		if at := first + here/10; at > bestHere {
			bestLine, bestHere = matches[from].line, at
		}
	}
	return bestLine, weight
}
