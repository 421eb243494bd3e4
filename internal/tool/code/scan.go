package code

import (
	"encoding/binary"

	"sibyl/internal/search"
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
	word, mask uint32 // its first two to four bytes, folded
	term       int
	text       string // the whole of it
	alias      bool
}

// scanner finds all terms in one pass. It looks every pair of bytes up, and compares the keys that begin with it. Bytes are folded by setting the
// bit that parts upper from lower case, and what that confuses is sorted out afterwards.
type scanner struct {
	terms []term
	keys  [][]key          // that begin with the same pair, those of a term together; the first list is empty
	lists *[1 << 16]uint16 // by pair
}

const foldBits = 0x20202020

func newScanner(terms []term) *scanner {
	s := &scanner{terms: terms, keys: [][]key{nil}, lists: new([1 << 16]uint16)}
	for i, t := range terms {
		s.insert(newKey(i, t.stem, t.head, false))
		for _, a := range t.aliases {
			if len(a) >= 2 {
				s.insert(newKey(i, a, len(a), true))
			}
		}
	}
	return s
}

func newKey(term int, text string, head int, alias bool) key {
	k := key{term: term, text: text, alias: alias}
	for i := range min(4, max(head, 2), len(text)) {
		k.word |= uint32(text[i]|0x20) << (8 * i)
		k.mask |= 0xff << (8 * i)
	}
	return k
}

func (s *scanner) insert(k key) {
	list := &s.lists[uint16(k.word)]
	if *list == 0 {
		*list = uint16(len(s.keys))
		s.keys = append(s.keys, nil)
	}
	s.keys[*list] = append(s.keys[*list], k)
}

// find reports every match, ordered by start. Of several ways in which one term matches at one place it reports the
// strongest.
func (s *scanner) find(content []byte, emit func(match)) {
	src := content[:len(content)+search.Padding]
	for i := range content {
		word := binary.LittleEndian.Uint32(src[i:]) | foldBits
		if list := s.lists[uint16(word)]; list != 0 {
			s.compare(src, i, word, s.keys[list], emit)
		}
	}
}

// compare looks for keys at one place, where a folded word stands.
func (s *scanner) compare(src []byte, start int, word uint32, keys []key, emit func(match)) {
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

// judge looks at the word around a place where a key's first bytes stand.
func (s *scanner) judge(src []byte, start int, k *key) (end int, how strength) {
	t := &s.terms[k.term]
	atStart := search.StartsPart(src, start)
	stemEnd, whole := matchFolded(src, start, k.text, t.compound)
	if k.alias {
		return judgeAlias(src, start, stemEnd, k.text, whole && atStart)
	}
	if !whole {
		if !atStart || t.compound {
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
