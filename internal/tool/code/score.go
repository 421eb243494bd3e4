package code

import (
	"cmp"
	"hash/maphash"
	"math"
	"math/bits"
	"path"
	"slices"
	"strings"
	"sync"

	"sibyl/internal/text/search"
)

// What a match counts by the field that it stands in.
var fieldWeights = [fields]float64{inBody: 0.8, inRemark: 1.2, inSignature: 1.3, inOwner: 1.1, inDoc: 2, inName: 5.5}

const (
	unitLength   = 0.5  // how much a long unit must repeat a term
	usualUnit    = 25.0 // lines
	lengthCost   = 0.13 // what the length of a unit costs, beside that it says more
	weakMatch    = 0.7  // the power of a match's strength: below 1, parts of words count more
	nearby       = 6    // lines in which terms count as close
	nearBonus    = 0.9
	nameBonus    = 1.7 // for the part of the question that the name says
	nameRest     = 0.5 // how much the part of the name that the question does not say costs of it
	wholeName    = 1.5 // for a name of several words that the question says whole
	ownerShare   = 0.5 // the name of what a unit belongs to, as part of its name
	pairBonus    = 0.1 // for words that are neighbours in the question and here
	pairApart    = 30  // bytes
	inPathShare  = 0.45
	fileBonus    = 0.5 // for the best file, beside the worst
	mentionBonus = 0.5 // for a definition that the question names
	callerBonus  = 1.0 // for one that uses it, where its users are asked for
	callee       = 0.2 // what is left of itself then
	sameDirTwin  = 0.5 // what is left for a definition of the same name as a better one
	otherDirTwin = 0.8

	looseRank   = 0.6 // lines outside all definitions
	typeRank    = 0.8 // holds the words of all that is in it
	promiseRank = 0.8 // a method of an interface: others do what it promises
	holderRank  = 0.8 // a constant, variable or field, where no value is asked for
	emptyRank   = 0.5 // a function without a body, and without a word on why
	changesRank = 0.3 // a list of changes
	testBonus   = 1.25
	testAsked   = 1.8
	manualBonus = 1.5 // for a document where a person asks what to do
	valueBonus  = 1.3 // for a constant, variable or field where a number or a setting is asked for

	mostPassages = 60 // that are compared with each other
)

// passage is a unit that was found and scored.
type passage struct {
	unit         *unit
	path, text   string
	line         int // the best line
	head         int // the last line of the signature
	start, end   int
	from, to     int // the best lines
	symbol, kind string
	terms        []int
	score        float64
	digest       uint64
}

func comparePassages(a, b *passage) int {
	return cmp.Or(cmp.Compare(b.score, a.score), strings.Compare(a.path, b.path), cmp.Compare(a.line, b.line), cmp.Compare(a.end, b.end))
}

// rank scores the units of the best files. all is how many units these files have.
func (s *lookup) rank(units []unit, all int) []passage {
	s.weighUnits(units, all)
	scored := make([]passage, len(units))
	inPath := map[*tally][]float64{}
	for i := range units {
		if f := units[i].file; inPath[f] == nil {
			inPath[f] = s.termsInPath(f.path)
		}
	}
	var crew sync.WaitGroup
	for first := range workers() {
		crew.Go(func() {
			sums := newSums(len(s.query.terms))
			for i := first; i < len(units); i += workers() {
				scored[i] = s.score(&units[i], inPath[units[i].file], sums)
			}
		})
	}
	crew.Wait()
	var order []*passage
	for i := range scored {
		p := &scored[i]
		if len(order) == mostPassages && comparePassages(p, order[mostPassages-1]) >= 0 || !s.regex && p.unit.namesPackage() {
			continue
		}
		order = within(order, p, mostPassages, comparePassages)
	}
	seed := maphash.MakeSeed()
	for _, p := range order {
		p.finish(seed)
	}
	spread(order)
	return s.apart(order)
}

// sums are numbers by term, which are added up for one unit after the other.
type sums struct{ amount, best, named, near []float64 }

func newSums(terms int) *sums {
	all := make([]float64, 4*terms)
	return &sums{all[:terms], all[terms : 2*terms], all[2*terms : 3*terms], all[3*terms:]}
}

// weighUnits gives each term its weight by how many units hold it. In files that were not looked at closely, they are taken to lie as in those that were.
func (s *lookup) weighUnits(units []unit, all int) {
	n := len(s.query.terms)
	holding, have, here := make([]float64, n), make([]float64, n), make([]float64, n)
	size, seen := 0.0, map[*tally]bool{}
	for i := range units {
		u := &units[i]
		if !seen[u.file] {
			seen[u.file] = true
			size += float64(u.file.size)
			for t, count := range u.file.terms {
				here[t] += float64(count)
			}
		}
		if u.def != nil && u.def.member { // it is counted with what it is part of
			continue
		}
		clear(have)
		for _, m := range u.spots {
			have[m.term] = max(have[m.term], m.strength)
		}
		for t, h := range have {
			if h >= float64(aliasMatch)/float64(exactMatch) {
				holding[t]++
			} else if h > 0 {
				holding[t] += 0.25
			}
		}
	}
	if size == 0 {
		return
	}
	total := float64(all) * float64(s.bytes) / size
	for t := range s.weights {
		if s.weights[t] == 0 {
			continue
		}
		count := 0.0
		for i := range s.tallies {
			count += float64(s.tallies[i].terms[t])
		}
		if here[t] > 0 {
			holding[t] *= count / here[t]
		} else {
			holding[t] = count / float64(exactMatch)
		}
		s.weights[t] = s.asked(t) * search.Rarity(max(total, holding[t]), holding[t])
	}
}

// score scores a unit. Sums are to work with.
func (s *lookup) score(u *unit, inPath []float64, sums *sums) passage {
	amount, best, named := sums.amount, sums.best, sums.named
	clear(amount)
	clear(best)
	clear(named)
	for _, m := range u.spots {
		strength := m.strength
		if strength != 1 {
			strength = math.Pow(strength, weakMatch)
		}
		amount[m.term] += strength * fieldWeights[m.field]
		best[m.term] = max(best[m.term], strength)
		switch m.field {
		case inName:
			named[m.term] = max(named[m.term], strength)
		case inOwner:
			named[m.term] = max(named[m.term], strength*ownerShare)
		}
	}
	p := passage{unit: u, path: u.file.path, start: u.start, end: u.end, head: u.signature}
	if u.def != nil {
		p.symbol, p.kind = u.def.symbol(), u.def.kind
	}
	length := u.lines() / usualUnit
	for t := range s.weights {
		if best[t] > 0 {
			p.terms = append(p.terms, t)
		}
		amount[t] = search.Saturated(amount[t], length, unitLength)
		best[t] = max(best[t], inPath[t]*inPathShare)
	}
	line, near := s.closest(u.spots, sums.near)
	p.line = max(line, u.start)
	if all := s.weights.Total(); all > 0 {
		fit, words := u.nameFit()
		name := nameBonus * (1 - nameRest + nameRest*fit) * s.weights.Sum(named)
		if fit == 1 && words > 1 {
			name *= wholeName
		}
		p.score = s.weights.Sum(amount) / all * (s.weights.Sum(best) + nearBonus*near + name + pairBonus*s.pairs(u.spots)) / all
	}
	p.score = (p.score + s.meant(u)) * s.prior(u) / math.Pow(1+length, lengthCost)
	return p
}

// nameFit is how much of a definition's name the question holds, 0 to 1, and of how many words that name is; none is counted where the question holds none.
func (u *unit) nameFit() (fit float64, words int) {
	if u.def == nil || u.def.kind == "section" {
		return 0.5, 0
	}
	var seen uint32
	for _, m := range u.spots {
		if m.field == inName {
			seen |= 1 << m.term
		}
	}
	if seen == 0 {
		return 0, 0
	}
	if words = search.CountParts(u.def.name); words == 0 {
		return 0, 0
	}
	return min(1, float64(bits.OnesCount32(seen))/float64(words)), words
}

// pairs is the weight of neighbouring words of the question that stand one behind the other in a line.
func (s *lookup) pairs(spots []spot) float64 {
	sum := 0.0
	var seen uint32
	for i, a := range spots {
		for _, b := range spots[i+1:] {
			if b.line != a.line || b.column > a.column+pairApart {
				break
			}
			if b.term == a.term+1 && b.column > a.column && seen&(1<<a.term) == 0 {
				seen |= 1 << a.term
				sum += (s.weights[a.term] + s.weights[b.term]) / 2
			}
		}
	}
	return sum
}

// prior is what speaks for a unit before its words do.
func (s *lookup) prior(u *unit) float64 {
	f := u.src.likely
	if u.src.changes {
		f *= changesRank * rankOfAge(u.file.path, u.start, len(u.src.lines))
	}
	if s.top > 0 {
		f *= 1 + fileBonus*u.file.score/s.top
	}
	switch {
	case s.query.test && u.src.test:
		f *= testAsked
	case s.query.tests && u.src.test:
		f *= testBonus
	case s.query.manual && !u.src.lang.defines && u.def != nil:
		f *= manualBonus
	}
	if s.query.callers && s.mentioned(u.def, u.file.path) > 0 {
		f *= callee
	}
	switch d := u.def; {
	case d == nil:
		f *= looseRank
	case s.query.value:
		if d.isValue() {
			f *= valueBonus
		}
	case d.isValue():
		f *= holderRank
	case d.member:
		f *= promiseRank
	}
	if u.def != nil && u.def.kind == "type" {
		f *= typeRank
	}
	if u.doesNothing() {
		f *= emptyRank
	}
	return f
}

// meant is what a unit gains when the question names it, or where it asks who uses what it names, when it does.
func (s *lookup) meant(u *unit) float64 {
	if !s.query.callers || len(s.query.named) == 0 {
		return s.mentioned(u.def, u.file.path)
	}
	if u.def == nil || u.def.isValue() || s.mentioned(u.def, u.file.path) > 0 {
		return 0
	}
	name := s.query.named[0].name
	for _, m := range u.spots {
		if t := &s.query.terms[m.term]; m.field == inBody && m.strength == 1 && (t.compound || len(t.stem) == len(name)) {
			return callerBonus
		}
	}
	return 0
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

// finish completes a passage that may be shown.
func (p *passage) finish(seed maphash.Seed) {
	u := p.unit
	column := 0
	if i := slices.IndexFunc(u.spots, func(m spot) bool { return m.line == p.line }); i >= 0 {
		column = u.spots[i].column
	}
	p.text, p.digest = excerpt(u.src.line(p.line), column), u.digest(seed)
	p.from, p.to = u.best(p.line)
}

// spread lowers what repeats a better passage: the same definition for another system, or a twin in another package.
func spread(passages []*passage) {
	type name struct{ dir, symbol string }
	inDir, anywhere := map[name]int{}, map[string]int{}
	for _, p := range passages {
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

// leastCopy is how many lines make a copy: shorter ones are alike by chance.
const leastCopy = 3

// apart leaves out copies of a better passage, and what lies within one or, unless it is long, around one. What stands right above or below a better one, or
// around it, and does not say too little, is shown with it. Who searches by an expression wants them all.
func (s *lookup) apart(passages []*passage) []passage {
	copies, inFile := map[uint64]bool{}, map[string][]int{}
	kept := make([]passage, 0, len(passages))
	for _, p := range passages {
		better := func(is func(*passage, *passage) bool) bool {
			return slices.ContainsFunc(inFile[p.path], func(at int) bool { return is(&kept[at], p) })
		}
		if copies[p.digest] && !s.regex && p.end-p.start+1 >= leastCopy || better((*passage).holds) || !s.regex && better((*passage).join) || better((*passage).within) {
			continue
		}
		copies[p.digest] = true
		inFile[p.path] = append(inFile[p.path], len(kept))
		kept = append(kept, *p)
	}
	return kept
}

// holds says whether a worse passage lies within one.
func (p *passage) holds(worse *passage) bool { return p.start <= worse.start && worse.end <= p.end }

// within says whether a worse passage, which is short, lies around one.
func (p *passage) within(worse *passage) bool {
	return worse.holds(p) && worse.end-worse.start < wholeLines
}

const (
	besides   = 2   // lines between two passages that are shown as one
	joinShare = 0.2 // of the score of the better one
)

// join shows a worse passage with a better one, if it stands beside or around it and both are short. A section of a document is shown alone.
func (p *passage) join(worse *passage) bool {
	start, end := min(p.start, worse.start), max(p.end, worse.end)
	if worse.start > p.end+1+besides || p.start > worse.end+1+besides || end-start >= wholeLines || worse.score < joinShare*p.score || p.kind == "section" {
		return false
	}
	p.start, p.end, p.from, p.to = start, end, start, end
	for _, t := range worse.terms {
		if !slices.Contains(p.terms, t) {
			p.terms = append(p.terms, t)
		}
	}
	slices.Sort(p.terms)
	return true
}

// closest finds the few lines in which the terms meet best, and the best line of them. Spots are ordered by line, but for those of the owner. Have
// is to work with.
func (s *lookup) closest(spots []spot, have []float64) (line int, weight float64) {
	bestLine, bestHere := 0, -1.0
	for from := range spots {
		if from > 0 && spots[from].line == spots[from-1].line || spots[from].field == inOwner {
			continue
		}
		clear(have)
		first := 0.0 // what the first line alone has
		for _, m := range spots[from:] {
			if m.line >= spots[from].line+nearby || m.field == inOwner {
				break
			}
			have[m.term] = max(have[m.term], m.strength)
			if m.line == spots[from].line {
				first = s.weights.Sum(have)
			}
		}
		here := s.weights.Sum(have)
		weight = max(weight, here)
		// Among lines, the one that itself holds most wins; the window decides between equals.
		if at := first + here/10; at > bestHere {
			bestLine, bestHere = spots[from].line, at
		}
	}
	return bestLine, weight
}
