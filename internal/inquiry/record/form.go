package record

import "strings"

// space is what nothing but leaves a text empty. The schema says the same.
const space = " \t\r\n"

// isUUID says whether a text is a UUID of version 4, with digits of either case.
func isUUID(id string) bool {
	if len(id) != 36 || id[14] != '4' || !strings.ContainsRune("89abAB", rune(id[19])) {
		return false
	}
	for i := range len(id) {
		if dash := i == 8 || i == 13 || i == 18 || i == 23; dash != (id[i] == '-') || !dash && !isHex(id[i]) {
			return false
		}
	}
	return true
}

func isHex(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F' }

func blank(text string) bool { return strings.Trim(text, space) == "" }

// mostContradictions is how many contradictions an audit has at most.
const mostContradictions = 200
