package code

import "sibyl/internal/text/search"

// strength says how well a place in a file matches a term, in tenths of a full match.
type strength int

const (
	exactMatch strength = 10 // the word, in any of its forms
	aliasMatch strength = 7  // its abbreviation from the table
	longerWord strength = 5  // a word that begins with it: config, configuration
	shorter    strength = 5  // an abbreviation of at least four letters that it begins with: connection, conn
	longAlias  strength = 3  // a word that begins with its abbreviation: channel, chansend
	endOfWord  strength = 5  // it ends a word: send, chansend
	insideWord strength = 3  // it is in the middle of a word: send, asender
)

// match is one place in a file: text[start:end] matches terms[term].
type match struct {
	start, end int
	term       int
	strength   strength
	isNumber   bool // a number of a version, for the term that asks for one
}

// finder finds matches in a file whose content is padded by zero bytes.
type finder interface {
	find(content []byte, emit func(match))
}

// key is a text with which a match of a term begins: its stem or an alias.
type key struct {
	term  int
	text  string
	alias bool
}

// scanner finds all terms in one pass. A table has the keys that begin with each pair of bytes. Bytes are folded by
// setting the bit that distinguishes lower from upper case; other bytes that this confuses are sorted out afterwards.
type scanner struct {
	terms []term
	table *[1 << 16]uint16 // index into keys; 0: none
	keys  [][]key
}

const caseBit = 0x20

func newScanner(terms []term) *scanner {
	s := &scanner{terms: terms, table: new([1 << 16]uint16), keys: [][]key{nil}}
	for i, t := range terms {
		s.addKey(key{term: i, text: t.stem})
		for _, a := range t.aliases {
			if len(a) >= 2 {
				s.addKey(key{term: i, text: a, alias: true})
			}
		}
	}
	return s
}

func (s *scanner) addKey(k key) {
	for second := range 256 {
		if len(k.text) > 1 && second != int(k.text[1]|caseBit) {
			continue
		}
		at := &s.table[int(k.text[0]|caseBit)|second<<8]
		if *at == 0 {
			*at = uint16(len(s.keys))
			s.keys = append(s.keys, nil)
		}
		s.keys[*at] = append(s.keys[*at], k)
	}
}

// find reports every match, ordered by start. Of several ways in which one term matches at one place it reports the
// strongest.
func (s *scanner) find(content []byte, emit func(match)) {
	src := content[:len(content)+search.Padding]
	pair := uint16(src[0]|caseBit) << 8
	for i := range content {
		pair = pair>>8 | uint16(src[i+1]|caseBit)<<8
		if group := s.table[pair]; group != 0 {
			s.emitBest(src, i, s.keys[group], emit)
		}
	}
}

// emitBest matches keys at one place, and emits the best match of each term. Keys of one term follow each other.
func (s *scanner) emitBest(src []byte, start int, keys []key, emit func(match)) {
	best := match{term: -1}
	for i := range keys {
		k := &keys[i]
		end, how := s.matchKey(src, start, k)
		switch {
		case how == 0:
		case best.term != k.term:
			if best.term >= 0 {
				emit(best)
			}
			best = match{start: start, end: end, term: k.term, strength: how}
		case how > best.strength:
			best.end, best.strength = end, how
		}
	}
	if best.term >= 0 {
		emit(best)
	}
}

// matchKey returns how well the word at a place, where a key's first bytes were found, matches the key; 0: not at all.
func (s *scanner) matchKey(src []byte, start int, k *key) (end int, how strength) {
	t := &s.terms[k.term]
	stemEnd, whole := matchFolded(src, start, k.text, t.isCompound)
	if !whole && (k.alias || t.isCompound || t.isForeign) {
		return 0, 0
	}
	atStart := search.StartsPart(src, start)
	switch {
	case k.alias && atStart:
		return matchAlias(src, start, stemEnd, k.text)
	case k.alias, !whole && !atStart:
		return 0, 0
	case !whole:
		return matchShorter(src, start, t.word)
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

func matchAlias(src []byte, start, aliasEnd int, alias string) (int, strength) {
	end := search.PartEnd(src, start)
	switch rest := end - aliasEnd; {
	case rest == 0, rest == 1 && search.Lower(src[aliasEnd]) == 's':
		return end, aliasMatch
	case rest > 0 && len(alias) >= 4:
		return end, longAlias
	}
	return 0, 0
}

// matchShorter matches words of at least four letters with which the term begins.
func matchShorter(src []byte, start int, word string) (int, strength) {
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

// matchFolded compares without case. For compounds it skips underscores and hyphens between words.
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
