package redact

// leastLetters is how many characters a word of letters alone has at least before it can be told from an abbreviation.
const leastLetters = 16

// Random says whether a word is made of characters that are no words of anybody: a key, an id, what is encoded or encrypted. Words,
// identifiers, versions and names of algorithms are not. It is linear in the length.
func Random(word string) bool {
	n, c := len(word), classes(word)
	switch {
	case isUUID(word):
		return true
	case c.hex && c.digits > 0 && c.letters() > 0:
		return n >= leastHex
	case c.letters() == 0:
		return false
	case c.digits == 0:
		return n >= leastLetters && surprise(word)/float64(n) >= manyBits
	}
	return n >= leastSecret && surprise(word)/float64(n) >= manyBits
}
