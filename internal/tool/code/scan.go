package code

import (
	"encoding/binary"
	"math"
	"math/bits"

	"sibyl/internal/text/search"
)

// strength says how well a place in a file matches a term, in tenths of a full match.
type strength int

const (
	exactMatch strength = 10 // the word, in any of its forms
	aliasMatch strength = 7  // its abbreviation from the table
	longerWord strength = 5  // a word that begins with it: config, configuration
	shorter    strength = 5  // an abbreviation of at least four letters that it begins with: connection, conn
	longAlias  strength = 3  // a word that begins with its abbreviation: channel, chansend
	endOfWord  strength = 5  // it ends a word: send, chansend
	insideWord strength = 3  // it stands in the middle of a word: send, asender
)

// match is one place in a file: text[start:end] matches terms[term].
type match struct {
	start, end int
	term       int
	strength   strength
}

// finder finds matches in a file whose content is padded by zero bytes.
type finder interface {
	find(content []byte, emit func(match))
}

// key is the beginning of a stem or an alias, as the scanner meets it first.
type key struct {
	word, mask uint32 // its first bytes, folded
	length     int    // how many they are: 2 to 4
	term       int
	text       string // the whole of it
	alias      bool
}

// scanner finds all terms in one pass, at about two bytes a cycle. Each key belongs to one of eight groups. The text is
// read in pairs of bytes, and the table has for every pair the groups with a key that stands there in one of the ways
// below. A key that begins with a pair fills the next one as well; one that begins in the middle of a pair, as its
// second byte, goes on with the next one. Only where two pairs have a group in common does a key need to be compared.
// There is no skipping, so that no step waits for the one before. Bytes are folded by setting the bit that parts upper
// from lower case, and what that confuses is sorted out afterwards.
type scanner struct {
	terms  []term
	table  *[1 << 16]uint32
	groups [groupCount][]key
}

const (
	groupCount = 8
	foldBits   = 0x2020202020202020
	block      = 8 // bytes looked at together
)

// How a key may stand in a pair of bytes: where its bit is. What may follow one way is eight bits above it.
const (
	atFirst      = 8 * iota // it begins with the pair
	behindFirst             // a key that began with the pair before goes on
	atSecond                // it begins with the second byte
	behindSecond            // a key that began with the second byte of the pair before goes on

	begins = 0xff<<atFirst | 0xff<<atSecond
)

func newScanner(terms []term) *scanner {
	s := &scanner{terms: terms, table: new([1 << 16]uint32)}
	for i, t := range terms {
		group := i % groupCount // one for all keys of a term, so that the strongest match is known before it is reported
		s.insert(group, newKey(i, t.stem, t.head, false))
		for _, a := range t.aliases {
			if len(a) >= 2 {
				s.insert(group, newKey(i, a, len(a), true))
			}
		}
	}
	return s
}

func newKey(term int, text string, head int, alias bool) key {
	k := key{term: term, text: text, alias: alias}
	k.length = min(4, max(head, 2), len(text))
	for i := range k.length {
		k.word |= uint32(text[i]|0x20) << (8 * i)
		k.mask |= 0xff << (8 * i)
	}
	return k
}

func (s *scanner) insert(group int, k key) {
	s.groups[group] = append(s.groups[group], k)
	bytesOf := func(n int) (least, most uint32) { // that may stand where the key's byte n would
		if n < 0 || n >= k.length {
			return 0, math.MaxUint8
		}
		only := k.word >> (8 * n) & math.MaxUint8
		return only, only
	}
	for n, way := range [...]int{atSecond, atFirst, behindSecond, behindFirst} {
		low, high := bytesOf(n - 1)
		for second, last := bytesOf(n); second <= last; second++ {
			for first := low; first <= high; first++ {
				s.table[first|second<<8] |= 1 << (way + group)
			}
		}
	}
}

// find reports every match, ordered by start. Of several ways in which one term matches at one place it reports the
// strongest.
func (s *scanner) find(content []byte, emit func(match)) {
	src := content[:len(content)+search.Padding]
	t := s.table
	t0 := t[binary.LittleEndian.Uint16(src)|foldBits&math.MaxUint16]
	for i := 0; i < len(content); i += block {
		w := binary.LittleEndian.Uint64(src[i+2:i+2+block:len(src)]) | foldBits
		t1, t2, t3, t4 := t[uint16(w)], t[uint16(w>>16)], t[uint16(w>>32)], t[uint16(w>>48)]
		c0, c1, c2, c3 := t0&(t1>>8), t1&(t2>>8), t2&(t3>>8), t3&(t4>>8)
		if (c0|c1|c2|c3)&begins != 0 {
			for n, groups := range [block / 2]uint32{c0, c1, c2, c3} {
				if at := i + 2*n; groups&begins != 0 {
					s.compare(src, at, uint8(groups>>atFirst), emit)
					s.compare(src, at+1, uint8(groups>>atSecond), emit)
				}
			}
		}
		t0 = t4
	}
}

// compare looks for the keys of some groups at one place.
func (s *scanner) compare(src []byte, start int, groups uint8, emit func(match)) {
	if groups == 0 || start >= len(src)-search.Padding {
		return
	}
	word := binary.LittleEndian.Uint32(src[start:]) | foldBits&math.MaxUint32
	for ; groups != 0; groups &= groups - 1 {
		keys := s.groups[bits.TrailingZeros8(groups)]
		best := match{term: -1}
		for i := range keys {
			k := &keys[i]
			if word&k.mask != k.word {
				continue
			}
			end, how := s.judge(src, start, k)
			if how == 0 {
				continue
			}
			if best.term != k.term {
				if best.term >= 0 {
					emit(best)
				}
				best = match{start: start, end: end, term: k.term, strength: how}
			} else if how > best.strength {
				best.end, best.strength = end, how
			}
		}
		if best.term >= 0 {
			emit(best)
		}
	}
}

// judge looks at the word around a place where a key's first bytes stand.
func (s *scanner) judge(src []byte, start int, k *key) (end int, how strength) {
	t := &s.terms[k.term]
	atStart := search.StartsPart(src, start)
	stemEnd, whole := matchFolded(src, start, k.text, t.compound)
	if k.alias {
		return judgeAlias(src, start, stemEnd, k.text, whole && atStart)
	}
	if !whole {
		if !atStart || t.compound || t.foreign {
			return 0, 0
		}
		return judgeShorter(src, start, t.word)
	}
	end = search.PartEnd(src, stemEnd-1) // which may be a later word: WaitGroup for "waitgroup"
	switch {
	case !atStart && len(k.text) < 4:
		return 0, 0
	case !atStart && search.IsForm(k.text, src[stemEnd:end]):
		return end, endOfWord
	case !atStart:
		return stemEnd, insideWord
	case search.IsForm(k.text, src[stemEnd:end]):
		return end, exactMatch
	case len(k.text) >= 4:
		return end, longerWord
	}
	return 0, 0
}

func judgeAlias(src []byte, start, aliasEnd int, alias string, whole bool) (int, strength) {
	if !whole {
		return 0, 0
	}
	end := search.PartEnd(src, start)
	switch rest := end - aliasEnd; {
	case rest == 0, rest == 1 && search.Lower(src[aliasEnd]) == 's':
		return end, aliasMatch
	case rest > 0 && len(alias) >= 4:
		return end, longAlias
	}
	return 0, 0
}

// judgeShorter finds words of at least four letters that the term begins with.
func judgeShorter(src []byte, start int, word string) (int, strength) {
	end := search.PartEnd(src, start)
	n := end - start
	if n < 4 || n >= len(word) {
		return 0, 0
	}
	if _, ok := matchFolded(src, start, word[:n], false); !ok {
		return 0, 0
	}
	return end, shorter
}

// matchFolded compares without case. For compounds it passes over the underscores between words.
func matchFolded(src []byte, at int, word string, compound bool) (end int, ok bool) {
	for i := range len(word) {
		if compound && i > 0 && at < len(src) && (src[at] == '_' || src[at] == '-') {
			at++
		}
		if at >= len(src) || search.Lower(src[at]) != word[i] {
			return 0, false
		}
		at++
	}
	return at, true
}
