package code

import (
	"cmp"
	"math"
	"path"
	"slices"
	"strings"

	"sibyl/internal/text/search"
)

// What a match counts by the field that it stands in.
var fieldWeights = [fields]float64{inBody: 0.8, inDoc: 2, inName: 5.5}

const (
	unitLength   = 0.5  // how much a long unit must repeat a term
	usualUnit    = 30.0 // lines
	lengthCost   = 0.13 // what the length of a unit costs, beside that it says more
	nearby       = 6    // lines in which terms count as close
	nearBonus    = 0.9
	nameBonus    = 1.3 // for the part of the question that the name says
	pairBonus    = 0.1 // for words that are neighbours in the question and here
	pairApart    = 30  // bytes
	inPathShare  = 0.45
	fileBonus    = 0.5 // for the best file, beside the worst
	mentionBonus = 0.5 // for a definition that the question names
	callerBonus  = 1.0 // for one that uses it, where its users are asked for
	callee       = 0.2 // what is left of itself then
	sameDirTwin  = 0.5 // what is left for a definition of the same name as a better one
	otherDirTwin = 0.8

	typeRank    = 0.8 // holds the words of all that is in it
	promiseRank = 0.8 // a method of an interface: others do what it promises
	testBonus   = 1.25

	mostPassages = 60 // that are compared with each other
)

// passage is a unit that was found and scored, with the small ones beside it that are shown with it.
type passage struct {
	unit       unit
	line       int // the best one
	start, end int // of what is shown
	score      float64
}

// rank scores the units of the best files, and gives the passages, the best first. all is how many units these files
// have.
func (s *lookup) rank(units []unit, all int) []passage {
	s.weighUnits(units, all)
	var passages []passage
	for _, u := range units {
		if s.regex || !u.namesPackage() {
			passages = append(passages, s.score(u))
		}
	}
	slices.SortFunc(passages, comparePassages)
	passages = passages[:min(len(passages), mostPassages)]
	spread(passages)
	return s.apart(passages)
}

func comparePassages(a, b passage) int {
	return cmp.Or(cmp.Compare(b.score, a.score), strings.Compare(a.unit.src.path, b.unit.src.path),
		cmp.Compare(a.line, b.line), cmp.Compare(a.end, b.end))
}

// weighUnits gives each term its weight by how many units hold it. In files that were not looked at closely, they are
// taken to lie as in those that were.
func (s *lookup) weighUnits(units []unit, all int) {
	n := len(s.query.terms)
	holding, here, everywhere := make([]float64, n), make([]float64, n), make([]float64, n)
	size, seen := 0, map[*tally]bool{}
	for _, u := range units {
		if !seen[u.file] {
			seen[u.file] = true
			size += u.file.size
			for t, count := range u.file.terms {
				here[t] += float64(count)
			}
		}
		if u.def != nil && u.def.member { // it is counted with what it is part of
			continue
		}
		for t, strength := range s.strongest(u.spots) {
			switch {
			case strength >= float64(aliasMatch)/float64(exactMatch):
				holding[t]++
			case strength > 0:
				holding[t] += 0.25
			}
		}
	}
	for _, f := range s.tallies {
		for t, count := range f.terms {
			everywhere[t] += float64(count)
		}
	}
	total := float64(all) * float64(s.bytes) / float64(max(size, 1))
	for t := range s.weights {
		if here[t] > 0 {
			holding[t] *= everywhere[t] / here[t]
		} else {
			holding[t] = everywhere[t] / float64(exactMatch)
		}
		if s.weights[t] > 0 {
			s.weights[t] = s.query.terms[t].weight * search.Rarity(max(total, holding[t]), holding[t])
		}
	}
}

// strongest gives for each term its strongest match among spots, 0 to 1.
func (s *lookup) strongest(spots []spot) []float64 {
	have := make([]float64, len(s.query.terms))
	for _, m := range spots {
		have[m.term] = max(have[m.term], m.strength)
	}
	return have
}

func (s *lookup) score(u unit) passage {
	amount, named, best := make([]float64, len(s.weights)), make([]float64, len(s.weights)), s.strongest(u.spots)
	for _, m := range u.spots {
		amount[m.term] += m.strength * fieldWeights[m.field]
		if m.field == inName {
			named[m.term] = max(named[m.term], m.strength)
		}
	}
	length := float64(u.end-u.start+1) / usualUnit
	for t, inPath := range u.file.inPath {
		amount[t] = search.Saturated(amount[t], length, unitLength)
		best[t] = max(best[t], inPath*inPathShare)
	}
	line, near := s.closest(u.spots)
	p := passage{unit: u, line: line, start: u.start, end: u.end}
	if all := s.weights.Total(); all > 0 {
		told := s.weights.Sum(best) + nearBonus*near + nameBonus*s.weights.Sum(named) + pairBonus*s.pairs(u.spots)
		p.score = s.weights.Sum(amount) / all * told / all
	}
	p.score = (p.score + s.meant(&u)) * s.prior(&u) / math.Pow(1+length, lengthCost)
	return p
}

// closest finds the few lines in which the terms meet best, and the best line of them.
func (s *lookup) closest(spots []spot) (line int, weight float64) {
	most := -1.0
	for from := range spots {
		if from > 0 && spots[from].line == spots[from-1].line {
			continue
		}
		first, to := from, from
		for to < len(spots) && spots[to].line < spots[from].line+nearby {
			if to++; spots[to-1].line == spots[from].line {
				first = to
			}
		}
		here := s.weights.Sum(s.strongest(spots[from:to]))
		weight = max(weight, here)
		// Among lines, the one that itself holds most wins; the window decides between equals.
		if at := s.weights.Sum(s.strongest(spots[from:first])) + here/10; at > most {
			line, most = spots[from].line, at
		}
	}
	return line, weight
}

// pairs is the weight of neighbouring words of the question that stand one behind the other in a line.
func (s *lookup) pairs(spots []spot) float64 {
	sum := 0.0
	seen := map[int]bool{}
	for i, a := range spots {
		for _, b := range spots[i+1:] {
			if b.line != a.line || b.column > a.column+pairApart {
				break
			}
			if b.term == a.term+1 && b.column > a.column && !seen[a.term] {
				seen[a.term] = true
				sum += (s.weights[a.term] + s.weights[b.term]) / 2
			}
		}
	}
	return sum
}

// prior is what speaks for a unit before its words do.
func (s *lookup) prior(u *unit) float64 {
	f := u.likely
	if s.top > 0 {
		f *= 1 + fileBonus*u.file.score/s.top
	}
	if s.query.tests && isTest(u.src.path) {
		f *= testBonus
	}
	if s.query.callers && s.mentioned(u) > 0 {
		f *= callee
	}
	switch d := u.def; {
	case d == nil:
	case d.kind == "type":
		f *= typeRank
	case d.member && !d.isValue():
		f *= promiseRank
	}
	return f
}

// meant is what a unit gains when the question names it, or where it asks who uses what it names, when it does.
func (s *lookup) meant(u *unit) float64 {
	switch {
	case !s.query.callers || len(s.query.named) == 0:
		return s.mentioned(u)
	case u.def == nil || u.def.isValue() || s.mentioned(u) > 0:
		return 0
	}
	name := s.query.named[0].name
	for _, m := range u.spots {
		if t := &s.query.terms[m.term]; m.field == inBody && m.strength == 1 &&
			(t.compound || len(t.stem) == len(name)) {
			return callerBonus
		}
	}
	return 0
}

// mentioned is what a definition gains when the question names it: all of it when its owner is right too, be that a
// type or a package, and less when only the name is.
func (s *lookup) mentioned(u *unit) float64 {
	bonus := 0.0
	for _, m := range s.query.named {
		switch {
		case u.def == nil || u.def.name != m.name:
		case m.owner == "", m.owner == u.def.container, hintFit(strings.ToLower(m.owner), u.src.path) > 0:
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
		if p.unit.def == nil {
			continue
		}
		n := name{path.Dir(p.unit.src.path), p.unit.def.symbol()}
		p.score *= math.Pow(sameDirTwin, float64(inDir[n])) * math.Pow(otherDirTwin,
			float64(anywhere[n.symbol]-inDir[n]))
		inDir[n]++
		anywhere[n.symbol]++
	}
	slices.SortFunc(passages, comparePassages)
}

// leastCopy is how many lines make a copy: shorter ones are alike by chance.
const leastCopy = 3

// apart leaves out copies of a better passage, and what lies within one. What stands right above or below a better one,
// or around it, and does not say too little, is shown with it. Who searches by an expression wants them all.
func (s *lookup) apart(passages []passage) (kept []passage) {
	inFile, texts := map[string][]int{}, map[string]bool{}
	for _, p := range passages {
		at, text := p.unit.src.path, p.unit.src.span(p.start, p.end)
		if texts[text] && !s.regex && p.end-p.start+1 >= leastCopy {
			continue
		}
		texts[text] = true
		if slices.ContainsFunc(inFile[at], func(i int) bool {
			better := &kept[i]
			return better.start <= p.start && p.end <= better.end || !s.regex && better.join(&p)
		}) {
			continue
		}
		inFile[at] = append(inFile[at], len(kept))
		kept = append(kept, p)
	}
	return kept
}

const (
	besides   = 2   // lines between two passages that are shown as one
	joinShare = 0.2 // of the score of the better one
)

// join shows a worse passage with a better one, if it stands beside or around it and both are short. A section of a
// document is shown alone.
func (p *passage) join(worse *passage) bool {
	start, end := min(p.start, worse.start), max(p.end, worse.end)
	apart := worse.start > p.end+1+besides || p.start > worse.end+1+besides
	if apart || end-start >= wholeLines || worse.score < joinShare*p.score || p.unit.def != nil &&
		p.unit.def.kind == "section" {
		return false
	}
	p.start, p.end = start, end
	return true
}

const (
	wholeLines  = 40 // lines of a passage that is shown whole
	windowLines = 14 // of a longer one, those around its best line
	before      = 3  // of them, so many above it
)

// best gives the lines to show of a passage: all of a short one, else some around its best line.
func (p *passage) best() (from, to int) {
	if p.end-p.start < wholeLines {
		return p.start, p.end
	}
	to = min(p.end, max(p.start, p.line-before)+windowLines-1)
	return max(p.start, to-windowLines+1), to
}
