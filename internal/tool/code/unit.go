package code

import (
	"bytes"

	"sibyl/internal/text/search"
)

// field is a part of a unit; matches count differently in each.
type field int

const (
	inBody field = iota
	inDoc
	inName
	fieldCount
)

const (
	looseLines    = 40   // lines of a unit outside all definitions
	longLineShare = 0.05 // how much a match counts in a line of code that is too long to be written by hand
	importShare   = 0.1  // in a line that only names what a file of code uses
	nameParts     = 4    // a match in a name of more words counts less, in proportion
)

// importLine matches a line that names another file or package.
var importLine = pattern(`^\s*(?:(?:import|from|use|using|require|include|#\s*include)(?:\s+[\w.*{\\]|\s*["'<])|` +
	`require\(|export\b.*\bfrom\b|(?:[\w.]+\s+)?"[^"\s]+"$)`)

// unit is the smallest thing that a search finds: a definition with its comment, down to a constant or a field; a
// section of a document; or a run of lines outside all definitions.
type unit struct {
	src        *source
	tally      *tally
	rank       float64     // how likely the file is to hold an answer
	def        *definition // nil outside all definitions
	start, end int
	spots      []spot
}

// spot is a match in a unit.
type spot struct {
	line, column, term int     // the column counts bytes from 0
	strength           float64 // 0 to 1
	field              field
}

// findUnits cuts a file into units, and returns those with a match; total counts all. A line belongs to the innermost
// unit around it; the line of a constant, a field or a method of an interface also belongs to the whole group or type.
func (s *lookup) findUnits(file *tally, src *source) (found []unit, total int) {
	defs := outline(src)
	likely := s.rankOf(src.path, file.fit) * rankOfContent(src.text)
	if file.kind != nil && !file.kind.settings {
		likely = s.rankOf(src.path, 0) * rankOfContent(src.text)
	}
	// By line, index into list plus 1: the unit around it, and the field or constant in that; 0: none.
	whole, part := make([]int, len(src.lines)+1), make([]int, len(src.lines)+1)
	var list []unit
	for i := range defs {
		d := &defs[i]
		u := unit{src: src, tally: file, rank: likely, def: d, start: d.doc, end: d.end}
		if d.kind == "section" && i+1 < len(defs) { // the next one may be a part of it
			u.end = min(u.end, defs[i+1].doc-1)
		}
		list = append(list, u)
		owner := whole
		if d.member {
			owner = part
		}
		// outline sorts outer before inner: the innermost is written last.
		for line := d.doc; line <= d.end && line < len(owner); line++ {
			owner[line] = len(list)
		}
	}
	for line := 1; line < len(whole); line++ {
		if whole[line] > 0 {
			continue
		}
		if last := len(list) - 1; line == 1 || whole[line-1] <= len(defs) || line-list[last].start >= looseLines {
			list = append(list, unit{src: src, tally: file, rank: likely, start: line})
		}
		whole[line] = len(list)
		list[len(list)-1].end = line
	}
	line := 0
	s.find(file.kind, src.text, func(m match) {
		for line < len(src.lines) && src.lines[line] <= m.start {
			line++
		}
		match := spot{line: line, column: m.start - src.lines[line-1], term: m.term}
		match.strength = float64(m.strength) / float64(exactMatch)
		match.strength *= shareOfName(src.text, m.start)
		long := src.lang.defines && len(src.line(line)) > maxLine
		switch {
		case long:
			match.strength *= longLineShare
		case src.lang.defines && whole[line] > len(defs) && importLine().Match(src.line(line)):
			match.strength *= importShare
		}
		for _, at := range [...]int{whole[line], part[line]} {
			if at > 0 {
				u := &list[at-1]
				switch match.field = inBody; {
				case long:
				case file.kind != nil && file.kind.settings && (m.isNumber || isInKey(src.line(line), match.column)):
					match.field = inName
				default:
					match.field = u.fieldAt(line, match.column)
				}
				u.spots = append(u.spots, match)
			}
		}
	})
	for _, u := range list {
		if len(u.spots) > 0 {
			found = append(found, u)
		}
	}
	if file.called != nil && (found == nil || !file.kind.settings) {
		found = append(found, s.beginningOf(file, src))
	}
	return found, len(list)
}

// shareOfName says how much a match counts in the name around it: a name of many words, as tests have, is a sentence,
// of which one word says little.
func shareOfName(text []byte, at int) float64 {
	from, to := at, at
	for from > 0 && isNameRune(rune(text[from-1])) {
		from--
	}
	for to < len(text) && isNameRune(rune(text[to])) {
		to++
	}
	if to-from <= 2*nameParts { // so short a name is not cut
		return 1
	}
	return min(1, nameParts/float64(search.CountParts(string(text[from:to]))))
}

// beginningOf is the unit that stands for a file as a whole. That of prose is named as people call the file.
func (s *lookup) beginningOf(file *tally, src *source) unit {
	u := unit{src: src, tally: file, rank: s.rankOf(src.path, file.fit), start: 1, end: min(len(src.lines), looseLines)}
	field := inName
	if file.kind.settings { // it has keys, which are names
		field = inBody
	}
	for t, how := range file.called {
		if how > 0 {
			u.spots = append(u.spots, spot{line: 1, term: t, strength: how, field: field})
		}
	}
	return u
}

func (u *unit) fieldAt(line, column int) field {
	d := u.def
	if d == nil {
		return inBody
	}
	if line == d.line {
		if at := bytes.Index(u.src.line(line), []byte(d.name)); at >= 0 && column >= at && column < at+len(d.name) {
			return inName
		}
	}
	if line < d.line {
		return inDoc
	}
	return inBody
}

// onlyNamesPackage says whether all matches of a unit are in package clauses, which answer no question.
func (u *unit) onlyNamesPackage() bool {
	if u.def != nil && u.end > u.start {
		return false
	}
	for _, m := range u.spots {
		if words := bytes.Fields(u.src.line(m.line)); len(words) != 2 || string(words[0]) != "package" {
			return false
		}
	}
	return true
}
