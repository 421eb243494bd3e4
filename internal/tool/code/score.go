package code

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"sibyl/internal/text/search"
)

// How much a match counts, by the field in which it is.
var fieldWeights = [fieldCount]float64{inBody: 0.8, inDoc: 2, inName: 5.5}

const (
	unitStrictness = 0.5  // how much more often a long unit must repeat a term
	usualUnit      = 30.0 // lines
	lengthCost     = 0.13 // how much a unit's length lowers its score
	nearLines      = 6    // lines in which terms count as close
	nearBonus      = 0.9
	nameBonus      = 1.3 // for the part of the question that the name says
	fileBonus      = 0.5 // for the best file, beside the worst
	mentionBonus   = 0.5 // for a definition that the question names
	callerBonus    = 1.0 // for one that uses it, where its users are asked for
	calleeShare    = 0.2 // what is left then of the score of the definition itself
	twinShare      = 0.5 // what is left for a definition of the same name as a better one

	typeRank  = 0.8 // a type contains the words of all its members
	testBonus = 1.25

	maxPassages = 60 // that are compared with each other
)

// passage is a scored unit, together with the small ones beside it that are shown with it.
type passage struct {
	unit       unit
	line       int // the best one
	start, end int // of what is shown
	score      float64
}

// rank scores the units of the best files, and returns the passages, the best first. unitsLookedAt is how many units
// these files have, including those without a match.
func (s *lookup) rank(units []unit, unitsLookedAt int) []passage {
	s.weighTerms(units, unitsLookedAt)
	var passages []passage
	for _, u := range units {
		if s.regex || !u.onlyNamesPackage() {
			passages = append(passages, s.scoreUnit(u))
		}
	}
	slices.SortFunc(passages, comparePassages)
	passages = passages[:min(len(passages), maxPassages)]
	lowerRepeats(passages)
	return s.withoutCopies(passages)
}

func comparePassages(a, b passage) int {
	return cmp.Or(cmp.Compare(b.score, a.score), strings.Compare(a.unit.src.path, b.unit.src.path),
		cmp.Compare(a.line, b.line), cmp.Compare(a.end, b.end))
}

// weighTerms sets the weight of each term by how many units hold it. For the other files we assume the same share of
// matching units.
func (s *lookup) weighTerms(units []unit, unitsLookedAt int) {
	n := len(s.query.terms)
	holding, inUnits, inAllFiles := make([]float64, n), make([]float64, n), make([]float64, n)
	size, seen := 0, map[*tally]bool{}
	for _, u := range units {
		if !seen[u.tally] {
			seen[u.tally] = true
			size += u.tally.size
			for t, count := range u.tally.terms {
				inUnits[t] += float64(count)
			}
		}
		if u.def != nil && u.def.member { // counted with the unit that contains it
			continue
		}
		for t, strength := range s.strongestMatches(u.spots) {
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
			inAllFiles[t] += float64(count)
		}
	}
	total := float64(unitsLookedAt) * float64(s.bytes) / float64(max(size, 1))
	for t := range s.weights {
		if inUnits[t] > 0 {
			holding[t] *= inAllFiles[t] / inUnits[t]
		} else {
			holding[t] = inAllFiles[t] / float64(exactMatch)
		}
		if s.weights[t] > 0 {
			s.weights[t] = s.query.terms[t].weight * search.Rarity(max(total, holding[t]), holding[t])
		}
	}
}

// strongestMatches returns for each term its strongest match among spots, 0 to 1.
func (s *lookup) strongestMatches(spots []spot) []float64 {
	strengths := make([]float64, len(s.query.terms))
	for _, m := range spots {
		strengths[m.term] = max(strengths[m.term], m.strength)
	}
	return strengths
}

func (s *lookup) scoreUnit(u unit) passage {
	n, best := len(s.weights), s.strongestMatches(u.spots)
	amount, inNames := make([]float64, n), make([]float64, n)
	for _, m := range u.spots {
		amount[m.term] += m.strength * fieldWeights[m.field]
		if m.field == inName {
			inNames[m.term] = max(inNames[m.term], m.strength)
		}
	}
	length := float64(u.end-u.start+1) / usualUnit
	for t := range amount {
		amount[t] = search.Saturated(amount[t], length, unitStrictness)
	}
	if u.tally.called != nil && u.tally.kind.settings {
		for t, how := range u.tally.called {
			best[t] = max(best[t], how)
		}
	}
	line, near := s.bestLine(u.spots)
	p := passage{unit: u, line: line, start: u.start, end: u.end}
	if all := s.weights.Total(); all > 0 {
		covered := s.weights.Sum(best) + nearBonus*near + nameBonus*s.weights.Sum(inNames)
		p.score = s.weights.Sum(amount) / all * covered / all
	}
	p.score = (p.score + s.bonusFor(&u)) * s.priorOf(&u) / math.Pow(1+length, lengthCost)
	return p
}

// bestLine finds the few lines that together hold most of the question. It returns the best one, and the weight of all.
func (s *lookup) bestLine(spots []spot) (line int, weight float64) {
	highest := -1.0
	for from := range spots {
		if from > 0 && spots[from].line == spots[from-1].line {
			continue
		}
		first, to := from, from
		for to < len(spots) && spots[to].line < spots[from].line+nearLines {
			if to++; spots[to-1].line == spots[from].line {
				first = to
			}
		}
		here := s.weights.Sum(s.strongestMatches(spots[from:to]))
		weight = max(weight, here)
		// Among lines, the one that itself holds most wins; the window decides between equals.
		if at := s.weights.Sum(s.strongestMatches(spots[from:first])) + here/10; at > highest {
			line, highest = spots[from].line, at
		}
	}
	return line, weight
}

// priorOf returns the factor for a unit's kind and place, independent of its words.
func (s *lookup) priorOf(u *unit) float64 {
	f := u.rank
	if s.top > 0 {
		f *= 1 + fileBonus*u.tally.score/s.top
	}
	if s.query.aboutTests && isTest(u.src.path) {
		f *= testBonus
	}
	if s.query.asksCallers && s.mentionBonusFor(u) > 0 {
		f *= calleeShare
	}
	if u.def != nil && u.def.kind == "type" {
		f *= typeRank
	}
	return f
}

// bonusFor returns the bonus of a unit that the question names. If the question asks who uses something, it is the
// bonus of a unit that uses it.
func (s *lookup) bonusFor(u *unit) float64 {
	switch {
	case !s.query.asksCallers || len(s.query.definitions) == 0:
		return s.mentionBonusFor(u)
	case u.def == nil || u.def.isValue() || s.mentionBonusFor(u) > 0:
		return 0
	}
	name := s.query.definitions[0].name
	for _, m := range u.spots {
		if t := &s.query.terms[m.term]; m.field == inBody && m.strength == 1 &&
			(t.isCompound || len(t.stem) == len(name)) {
			return callerBonus
		}
	}
	return 0
}

// mentionBonusFor returns the bonus of a definition that the question names, with its owner (a type or a package) or
// alone.
func (s *lookup) mentionBonusFor(u *unit) float64 {
	for _, m := range s.query.definitions {
		if u.def != nil && u.def.name == m.name && (m.owner == "" || m.owner == u.def.container ||
			hintFit(strings.ToLower(m.owner), u.src.path) > 0) {
			return mentionBonus
		}
	}
	return 0
}

// lowerRepeats lowers the score of passages that repeat a better one: the same definition for another system, or a twin
// in another package.
func lowerRepeats(passages []passage) {
	better := map[string]int{} // definitions of a name so far
	for i := range passages {
		p := &passages[i]
		if p.unit.def == nil {
			continue
		}
		name := p.unit.def.symbol()
		p.score *= math.Pow(twinShare, float64(better[name]))
		better[name]++
	}
	slices.SortFunc(passages, comparePassages)
}

// minCopyLines is how many lines a copy has at least: shorter passages may be equal by chance.
const minCopyLines = 3

// withoutCopies leaves out copies of a better passage, and passages within one. A passage right above, below or around
// a better one is shown with it, unless its score is too low. A search by regular expression keeps copies and
// neighbours.
func (s *lookup) withoutCopies(passages []passage) (kept []passage) {
	inFile, texts := map[string][]int{}, map[string]bool{}
	for _, p := range passages {
		at, text := p.unit.src.path, p.unit.src.textOfLines(p.start, p.end)
		if texts[text] && !s.regex && p.end-p.start+1 >= minCopyLines {
			continue
		}
		texts[text] = true
		if slices.ContainsFunc(inFile[at], func(i int) bool {
			better := &kept[i]
			return better.start <= p.start && p.end <= better.end || !s.regex && better.absorb(&p)
		}) {
			continue
		}
		inFile[at] = append(inFile[at], len(kept))
		kept = append(kept, p)
	}
	return kept
}

const (
	linesBetween = 2   // lines between two passages that are shown as one
	joinShare    = 0.2 // of the score of the better one
)

// absorb extends a passage by a worse one that is beside or around it, if both are short, and says whether it did.
// Sections of documents are not extended.
func (p *passage) absorb(worse *passage) bool {
	start, end := min(p.start, worse.start), max(p.end, worse.end)
	areFar := worse.start > p.end+1+linesBetween || p.start > worse.end+1+linesBetween
	if areFar || end-start >= wholeLines || worse.score < joinShare*p.score || p.unit.def != nil &&
		p.unit.def.kind == "section" {
		return false
	}
	p.start, p.end = start, end
	return true
}

const (
	wholeLines  = 40 // lines of a passage that is shown whole
	windowLines = 14 // of a longer one, those around its best line
	linesAbove  = 3  // of these, how many above the best line
)

// linesToShow returns the lines of a passage to show: all of a short one, or else some around its best line.
func (p *passage) linesToShow() (from, to int) {
	if p.end-p.start < wholeLines {
		return p.start, p.end
	}
	to = min(p.end, max(p.start, p.line-linesAbove)+windowLines-1)
	return max(p.start, to-windowLines+1), to
}
