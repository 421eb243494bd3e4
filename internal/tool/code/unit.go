package code

import (
	"bytes"
	"hash/maphash"
	"path"

	"sibyl/internal/text/search"
)

// field is a part of a unit, told apart because words weigh differently in it.
type field int

const (
	inBody field = iota
	inRemark
	inSignature
	inOwner
	inDoc
	inName
	fields
)

const (
	looseLines  = 40 // lines of a unit outside all definitions
	wholeLines  = 40 // lines of a unit that is shown whole
	windowLines = 14 // of a longer one, those around its best line
	before      = 3  // of them, so many above it

	inData = 0.05 // a match in a line that no person writes
)

// unit is what can be found: a definition with the comment above it, down to a constant or a field; a section of a document; or a stretch of lines
// outside all.
type unit struct {
	src        *source
	file       *tally
	def        *definition // nil outside all
	start, end int
	signature  int // last line of what it takes and gives
	kin        int // lines of other definitions inside of it
	spots      []spot
}

// spot is a match in a unit.
type spot struct {
	line, column, term int     // the column counts bytes from 0
	strength           float64 // 0 to 1
	field              field
}

// units cuts a file and finds the terms in it. A line belongs to the innermost unit around it; one of a constant, a field or a method of an interface
// belongs to the whole group or type as well. Units without a match are left out, but counted.
func (s *lookup) units(file *tally, src *source) (found []unit, all int) {
	src.test, src.changes = isTest(src.path), newestFirst().MatchString(path.Base(src.path))
	src.likely = rankOfPath(src.path, s.query.tests) * rankOfContent(src.text) * s.hintFactor(src.path)
	whole, part := make([]int, len(src.lines)+1), make([]int, len(src.lines)+1) // by line: index into list, plus 1
	defs := outline(src)
	list := make([]unit, 0, 2*len(defs)+len(src.lines)/looseLines+1)
	for i := range defs {
		d := &defs[i]
		list = append(list, unit{src: src, file: file, def: d, start: d.doc, end: d.end, signature: src.signatureEnd(d)})
		owner := whole
		if d.member {
			owner = part
		}
		for line := d.doc; line <= d.end && line < len(owner); line++ {
			owner[line] = len(list)
		}
	}
	for line := 1; line < len(whole); line++ {
		if whole[line] > 0 {
			continue
		}
		first := line
		for ; line < len(whole) && whole[line] == 0 && line-first < looseLines; line++ {
			whole[line] = len(list) + 1
		}
		line--
		list = append(list, unit{src: src, file: file, start: first, end: line})
	}
	for i := range list {
		list[i].ownLines(whole, i+1)
	}
	type owned struct {
		unit int
		spot spot
	}
	spots := make([]owned, 0, len(src.lines)/2)
	count := make([]int, len(list))
	line, isData, dataSeen := 0, false, uint32(0)
	s.finder.find(src.text, func(m match) {
		if line < len(src.lines) && src.lines[line] <= m.start {
			for line++; line < len(src.lines) && src.lines[line] <= m.start; line++ {
			}
			isData, dataSeen = len(src.line(line)) > maxLine, 0
		}
		strength := float64(m.strength) / float64(exactMatch)
		if isData {
			if dataSeen&(1<<m.term) != 0 {
				return // once is enough
			}
			dataSeen |= 1 << m.term
			strength *= inData
		}
		for _, at := range [...]int{whole[line], part[line]} {
			if at > 0 {
				count[at-1]++
				spots = append(spots, owned{at - 1, spot{line: line, column: m.start - src.lines[line-1], term: m.term,
					strength: strength, field: list[at-1].fieldAt(line, m)}})
			}
		}
	})
	all = len(list)
	room := make([]spot, len(spots))
	with := 0
	for i, n := range count {
		list[i].spots, room = room[:0:n], room[n:]
		with += min(n, 1)
	}
	found = make([]unit, 0, with)
	for _, o := range spots {
		list[o.unit].spots = append(list[o.unit].spots, o.spot)
	}
	for i := range list {
		if u := &list[i]; len(u.spots) > 0 {
			s.ownerSpots(u)
			found = append(found, *u)
		}
	}
	return found, all
}

// longestSignature is how many lines one has at most.
const longestSignature = 12

// signatureEnd gives the last line of what a function takes and gives: that which opens its body.
func (s *source) signatureEnd(d *definition) int {
	if d.kind != "func" && d.kind != "method" {
		return d.line
	}
	for n := d.line; n <= min(d.end, d.line+longestSignature); n++ {
		if line := bytes.TrimRight(s.line(n), " \t"); bytes.HasSuffix(line, []byte("{")) || bytes.HasSuffix(line, []byte(":")) {
			return n
		}
	}
	return d.line
}

// ownLines ends a section where the first one below it begins, and counts the lines of a definition that belong to others.
func (u *unit) ownLines(owner []int, me int) {
	if u.def == nil || u.def.member {
		return
	}
	if u.def.kind == "section" {
		for u.end > u.start && owner[u.end] != me {
			u.end--
		}
		for n := u.start; n <= u.end; n++ {
			if owner[n] != me {
				u.end = n - 1
			}
		}
		return
	}
	for n := u.start; n <= u.end; n++ {
		if n < len(owner) && owner[n] != me {
			u.kin++
		}
	}
}

func (u *unit) fieldAt(line int, m match) field {
	d, src := u.def, u.src
	if d == nil {
		return inBody
	}
	column := m.start - src.lines[line-1]
	switch {
	case line < d.line:
		return inDoc
	case line == d.line:
		at := bytes.Index(src.line(line), []byte(d.name))
		if at >= 0 && column >= at && column < at+len(d.name) {
			return inName
		}
	}
	if c := src.commentAt(line); c >= 0 && column >= c {
		if line <= u.signature || d.member {
			return inDoc
		}
		return inRemark
	}
	if line <= u.signature {
		return inSignature
	}
	return inBody
}

// ownerSpots adds the terms in what a definition belongs to, which stands elsewhere.
func (s *lookup) ownerSpots(u *unit) {
	scanner, ok := s.finder.(*scanner)
	if !ok || u.def == nil || u.def.container == "" {
		return
	}
	padded := append([]byte(u.def.container), make([]byte, search.Padding)...)
	scanner.find(padded[:len(padded)-search.Padding], func(m match) {
		u.spots = append(u.spots, spot{line: u.def.line, term: m.term, strength: float64(m.strength) / float64(exactMatch), field: inOwner})
	})
}

// lines is how long a unit is without what belongs to others.
func (u *unit) lines() float64 { return float64(u.end - u.start + 1 - u.kin) }

// doesNothing says that a unit is a function in one line, with nothing in its braces and no comment.
func (u *unit) doesNothing() bool {
	return u.def != nil && (u.def.kind == "func" || u.def.kind == "method") && u.start == u.end && bytes.HasSuffix(bytes.TrimSpace(u.src.line(u.end)), []byte("{}"))
}

// namesPackage says that nothing was found in a unit but in lines that say which package the file belongs to: they answer nothing.
func (u *unit) namesPackage() bool {
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

// best gives the lines to show of a unit: all of a short one, else some around its best line.
func (u *unit) best(line int) (from, to int) {
	if u.end-u.start < wholeLines {
		return u.start, u.end
	}
	to = min(u.end, max(u.start, line-before)+windowLines-1)
	return max(u.start, to-windowLines+1), to
}

// commentAt gives the column at which a comment begins in a line, -1 if there is none.
func (s *source) commentAt(n int) int {
	if s.asked.line != n {
		s.asked.line, s.asked.comment = n, s.findComment(n)
	}
	return s.asked.comment
}

func (s *source) findComment(n int) int {
	line := s.line(n)
	if isComment(s.lang, line) {
		return 0
	}
	for _, mark := range s.lang.comments {
		if mark != "//" && mark != "#" && mark != "--" || !bytes.Contains(line, []byte(mark)) {
			continue
		}
		for _, blank := range []string{" ", "\t"} {
			if at := bytes.Index(line, []byte(blank+mark+" ")); at >= 0 {
				return at
			}
		}
	}
	return -1
}

// digest is that of a unit's text without what indents it: two copies have the same.
func (u *unit) digest(seed maphash.Seed) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	for n := u.start; n <= u.end; n++ {
		if line := bytes.TrimSpace(u.src.line(n)); len(line) > 0 {
			_, _ = h.Write(line) // a hash never fails to write
			_ = h.WriteByte('\n')
		}
	}
	return h.Sum64()
}
