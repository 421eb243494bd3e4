package redact

import (
	"slices"
	"strings"
)

// The lengths of values, in bytes.
const (
	minSecretLength = 8
	leastLetters    = 12 // of letters alone
	leastWeak       = 20
	leastHex        = 16
)

// minConsonants is how many consonants in a row no word has that is next to a number.
const minConsonants = 5

// isSecret says whether a value after a name of that kind is a secret. literal: it is in quotes or in a file of
// settings, and so not an expression; endsLine: its line ends with it.
func isSecret(text string, kind nameKind, literal, endsLine bool) bool {
	s := shapeOf(text)
	if len(text) < minSecretLength || s.letters() == 0 {
		return false
	}
	mixed := kind == password && (literal || endsLine) && s.kindsOfCharacters() >= 3 && s.signs > 0 && !s.path
	hex := s.hex && s.digits > 0 && len(text) >= leastHex
	return (mixed || hex || s.isUUID(text) || isRandom(text, literal)) && !isPlaceholder(text)
}

// isWeakSecret says whether a value is a secret although its name says little.
func isWeakSecret(text string, given bool) bool {
	s := shapeOf(text)
	return given && len(text) >= leastWeak && s.letters() > 0 && s.digits > 0 && !s.hex && !s.isUUID(text) &&
		isRandom(text, false) && !strings.ContainsAny(text, ",:@&") && !isPlaceholder(text)
}

// isRandom says whether a text changes between lower case, upper case and digits more often than words and identifiers
// do. Random characters make runs of two or fewer, words make runs of five or more; a capital and the lower case after
// it are one run.
func isRandom(text string, literal bool) bool {
	const (
		ofDigits = 5.0 // characters a run, at most: where several numbers stand between letters
		ofDigit  = 4.0 // where one does
		ofOthers = 3.0 // where none does, or the text may be an expression
	)
	s := shapeOf(text)
	if s.path && s.signs > 0 {
		pieces := strings.FieldsFunc(text, isSign)
		return slices.ContainsFunc(pieces, func(piece string) bool { return isRandom(piece, literal) })
	}
	most := ofDigits
	switch {
	case s.numbers == 0 && (!literal || s.signs > 0 || len(text) < leastLetters):
		return false
	case s.numbers == 1 && s.runs < 4:
		return literal && len(text) >= leastLetters && s.consonants >= minConsonants
	case s.numbers == 0 || !literal:
		most = ofOthers
	case s.numbers == 1:
		most = ofDigit
	}
	characters := s.letters() + s.digits
	return characters >= minSecretLength-1 && float64(characters) <= most*float64(s.runs)
}

// shape is what a text consists of.
type shape struct {
	lower, upper, digits, signs int
	runs, numbers               int  // of letters of one case or digits; of digits alone
	consonants                  int  // the most in a row
	hex                         bool // digits and letters of hexadecimal numbers alone
	path                        bool // the signs are those of paths and joined words
}

func (s shape) letters() int { return s.lower + s.upper }

// kindsOfCharacters is how many kinds of characters there are.
func (s shape) kindsOfCharacters() (n int) {
	for _, some := range []int{s.lower, s.upper, s.digits, s.signs} {
		n += min(some, 1)
	}
	return n
}

// isUUID says whether the text with this shape is a UUID in its usual spelling.
func (s shape) isUUID(text string) bool {
	return len(text) == 36 && s.signs == 4 && s.digits > 0 &&
		text[8] == '-' && text[13] == '-' && text[18] == '-' && text[23] == '-'
}

func shapeOf(text string) shape {
	s := shape{hex: true, path: true}
	before, capitals, row := byte(' '), 0, 0
	for i := range len(text) {
		c := text[i]
		if row++; !isLower(c|0x20) || strings.IndexByte("aeiouy", c|0x20) >= 0 {
			row = 0
		}
		s.consonants = max(s.consonants, row)
		switch {
		case isDigit(c):
			s.digits++
			if !isDigit(before) {
				s.numbers++
				s.runs++
			}
		case isLower(c):
			s.lower++
			if !isLower(before) && capitals != 1 {
				s.runs++
			}
		case isUpper(c):
			s.upper++
			if !isUpper(before) {
				s.runs++
			}
		default:
			s.signs++
			s.path = s.path && (c == '/' || c == '.' || c == '-' || c == '_' || c == ':')
		}
		if capitals++; !isUpper(c) {
			capitals = 0
		}
		s.hex = s.hex && isHexDigit(c)
		before = c
	}
	return s
}
