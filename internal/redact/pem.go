package redact

import "regexp"

// keyFinders are the finders of private keys, by the words that begin or end a key.
var keyFinders = map[string]finder{
	"-----BEGIN ": findKey, "---- BEGIN ": findKey, "-----END ": findKeyByEnd, "Private-Lines: ": findPuttyKey,
}

const (
	maxMarker       = 128 // bytes of a marker
	maxKey          = 32 << 10
	minKeyRun       = 40   // of a run of key characters; the shortest keys have one line of 64
	minLastRun      = 16   // of the last run of a key that was cut off
	maxBeforeKey    = 1024 // bytes within which a key has its first line
	maxBetweenLines = 32   // from one line of a key to the next, with line numbers or quotes
	maxGap          = 200  // of other text between two runs of a key: headers, decoration of lines
)

// The markers around a private key, RFC 7468 and its kin.
var (
	beginMarker = regexp.MustCompile(`\A-{4,5} ?BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?(?: ?-+)?`)
	endMarker   = regexp.MustCompile(`\A-{4,5} ?END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?(?: ?-+)?`)
)

// markerEnd is where the marker at i ends, or -1 if there is none.
func markerEnd(marker *regexp.Regexp, t string, i int) int {
	m := marker.FindStringIndex(t[i:min(len(t), i+maxMarker)])
	if m == nil {
		return -1
	}
	return i + m[1]
}

// findKey finds the key whose begin marker is at i, up to its end marker. Between its lines there may be quotes,
// numbers or headers. It must have a whole line: a program may only name the markers. A cut-off key ends with its last
// run.
func findKey(t string, _, i int) (start, end int) {
	from := markerEnd(beginMarker, t, i)
	if from < 0 || !beginsWord(t, i) {
		return -1, -1
	}
	last, cut := readKeyLines(t, from)
	if cut < 0 {
		return -1, -1
	}
	return i, max(cut, markerEnd(endMarker, t, last))
}

// readKeyLines reads the lines of a key from `from` on, and stops at a marker or at other text. end is where it
// stopped, cut where the last run of key ended, or -1 if there was no whole line of key.
func readKeyLines(t string, from int) (end, cut int) {
	run, longestRun := 0, 0
	end, cut = from, -1
	for stop := min(len(t), end+maxKey); end < stop; end++ {
		c := t[end]
		marker := c == '-' && end+1 < len(t) && t[end+1] == '-'
		if marker || longestRun < minKeyRun && end-from > maxBeforeKey || longestRun >= minKeyRun && end-cut > maxGap {
			break
		}
		if isKeyByte(c) {
			run++
			// only the last line is shorter
			if run >= minKeyRun || run >= minLastRun && (cut < 0 || end+1-run-cut <= maxBetweenLines) {
				cut = end + 1
			}
			longestRun = max(longestRun, run)
			continue
		}
		if run = 0; !isBetweenKeyLines(c) {
			break
		}
	}
	if longestRun < minKeyRun {
		return end, -1
	}
	return end, cut
}

// findKeyByEnd finds the cut-off key whose end marker is at i, but not before `from`; -1: there is none.
func findKeyByEnd(t string, from, i int) (start, end int) {
	if end = markerEnd(endMarker, t, i); end < 0 {
		return -1, -1
	}
	run, longestRun := 0, 0
	start = i
	for at := i; at > max(from, i-maxKey); at-- {
		c := t[at-1]
		if c == '-' || start-at > maxGap && run < minLastRun {
			break
		}
		if isKeyByte(c) {
			run++
			if run >= minKeyRun || run >= minLastRun && longestRun < minKeyRun { // only the last line is shorter
				start = at - 1
			}
			longestRun = max(longestRun, run)
			continue
		}
		if run = 0; !isBetweenKeyLines(c) {
			break
		}
	}
	if longestRun < minKeyRun {
		return -1, -1
	}
	return start, end
}

var puttyLines = regexp.MustCompile(`\APrivate-Lines: \d+`)

// findPuttyKey finds the lines of a PuTTY key, which begin after the words at i and a number.
func findPuttyKey(t string, _, i int) (start, end int) {
	if start = markerEnd(puttyLines, t, i); start < 0 {
		return -1, -1
	}
	if _, end = readKeyLines(t, start); end < 0 {
		return -1, -1
	}
	for start < end && !isKeyByte(t[start]) || start+1 < end && t[start-1] == '\\' {
		start++
	}
	return start, end
}

func isKeyByte(c byte) bool { return isAlnum(c) || c == '+' || c == '/' || c == '=' }

// isBetweenKeyLines says whether a character may be between pieces of a key: blanks, headers, quotes, escapes, and what
// numbers, quotes or marks a line.
func isBetweenKeyLines(c byte) bool {
	switch c {
	case ' ', '\t', '\r', '\n', '"', '\'', '`', ',', '\\', ':', '-', '.', '(', ')', '|', '>', '#', '*', '@', '<', '_':
		return true
	}
	return false
}
