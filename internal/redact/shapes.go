package redact

import "strings"

// shape describes tokens of one kind: a prefix, and a body that is told from ordinary words by its length and by
// holding an unbroken run of letters and digits with a digit in it.
type shape struct {
	prefix string
	kind   kind
	body   func(byte) bool // the characters of the body
	least  int             // of the body, in bytes
	most   int             // 0: no bound; a longer run is something else
	run    int             // of letters and digits that the body must hold; 0: none
	keep   bool            // the prefix says what the token is for, and stays
}

type kind int

const (
	plainToken kind = iota
	webToken        // JSON web token, RFC 7519: three parts with dots between
	privateKey      // PEM, RFC 7468
)

func shapes() []shape {
	list := []shape{
		{prefix: "AKIA", body: isUpperAlnum, least: 16, most: 16},         // AWS access keys
		{prefix: "ASIA", body: isUpperAlnum, least: 16, most: 16, run: 5}, // begins words, too
		{prefix: "AIza", body: isURLSafe, least: 35, most: 35},            // Google
		{prefix: "eyJ", kind: webToken},
		{prefix: "-----BEGIN ", kind: privateKey},
		{prefix: "github_pat_", body: isURLSafe, least: 30, run: 14},
		{prefix: "glpat-", body: isURLSafe, least: 20},
		{prefix: "hf_", body: isAlnum, least: 30},
		{prefix: "gsk_", body: isAlnum, least: 40},
		{prefix: "xai-", body: isAlnum, least: 40},
		{prefix: "sibyl_", body: isAlnum, least: 40}, // what internal/user hands out
		{prefix: "AGE-SECRET-KEY-1", body: isUpperAlnum, least: 50},
	}
	for _, prefix := range []string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_"} { // GitHub
		list = append(list, shape{prefix: prefix, body: isAlnum, least: 30})
	}
	for _, prefix := range []string{"xoxa-", "xoxb-", "xoxp-", "xoxr-", "xoxs-"} { // Slack
		list = append(list, shape{prefix: prefix, body: isURLSafe, least: 20, run: 10})
	}
	for _, prefix := range []string{"sk-", "sk_live_", "sk_test_", "rk_live_"} { // OpenAI, Anthropic and many others; Stripe
		list = append(list, shape{prefix: prefix, body: isURLSafe, least: 16, run: 14})
	}
	for _, prefix := range []string{"Bearer ", "bearer ", "BEARER "} { // RFC 6750
		list = append(list, shape{prefix: prefix, body: isBearer, least: 20, run: 8, keep: true})
	}
	return list
}

// extent returns where a secret of this shape stands whose prefix begins at i, or -1.
func extent[T text](s *shape, t T, i int) (start, end int) {
	if !beginsWord(t, i) {
		return -1, -1
	}
	switch s.kind {
	case webToken:
		end = webTokenEnd(t, i)
	case privateKey:
		end = privateKeyEnd(t, i)
	case plainToken:
		end = tokenEnd(s, t, i+len(s.prefix))
	}
	if end < 0 {
		return -1, -1
	}
	if s.keep {
		return i + len(s.prefix), end
	}
	return i, end
}

func tokenEnd[T text](s *shape, t T, body int) int {
	end, run, longestRun, digit := body, 0, 0, false
	for ; end < len(t); end++ {
		switch c := t[end]; {
		case isAlnum(c) && s.body(c):
			run++
			digit = digit || isDigit(c)
			if digit {
				longestRun = max(longestRun, run)
			}
			continue
		case s.body(c), c == '\\' && s.body('/') && end+1 < len(t) && t[end+1] == '/': // some JSON writers escape slashes
			run, digit = 0, false
			continue
		}
		break
	}
	continues := s.most > 0 && (end-body > s.most || end < len(t) && isAlnum(t[end]))
	if end-body < s.least || continues || longestRun < s.run {
		return -1
	}
	return end
}

func webTokenEnd[T text](t T, i int) int {
	const leastPart = 10
	end := i
	for part := range 3 {
		if part > 0 {
			if end >= len(t) || t[end] != '.' {
				return -1
			}
			end++
		}
		from := end
		for end < len(t) && isURLSafe(t[end]) {
			end++
		}
		if end-from < leastPart {
			return -1
		}
	}
	return end
}

// privateKeyEnd takes all from the first marker to the last. What stands between is loose, since a key may be quoted
// line by line or have headers; but there must be a line of key in it, so that a program that only names the markers
// is left alone. A key that was cut off ends with its last piece.
func privateKeyEnd[T text](t T, i int) int {
	const (
		maxLabel = 60
		maxKey   = 32 << 10
		leastKey = 40 // of a run; the shortest keys have one line of 64
		leastRun = 16 // at the end of one that was cut off
	)
	end := i + len("-----BEGIN ")
	for stop := min(len(t), end+maxLabel); end < stop && t[end] != '-'; {
		end++
	}
	if !endsWith(t, end, "PRIVATE KEY") && !endsWith(t, end, "PRIVATE KEY BLOCK") {
		return -1
	}
	for end < len(t) && t[end] == '-' {
		end++
	}
	run, longestRun, cut := 0, 0, -1
	for stop := min(len(t), end+maxKey); end < stop; end++ {
		c := t[end]
		if c == '-' && end+1 < len(t) && t[end+1] == '-' {
			break
		}
		if isAlnum(c) || c == '+' || c == '/' || c == '=' {
			if run++; run >= leastRun {
				cut = end + 1
			}
			longestRun = max(longestRun, run)
			continue
		}
		if run = 0; !isBetweenKeyLines(c) {
			break
		}
	}
	const last = "-----END "
	switch {
	case longestRun < leastKey:
		return -1
	case len(t)-end < len(last) || string(t[end:end+len(last)]) != last:
		return cut
	}
	for end += len(last); end < len(t) && (isUpperAlnum(t[end]) || t[end] == ' '); {
		end++
	}
	for end < len(t) && t[end] == '-' {
		end++
	}
	return end
}

// endsWith says whether word stands right before end.
func endsWith[T text](t T, end int, word string) bool {
	return end >= len(word) && string(t[end-len(word):end]) == word
}

// beginsWord says whether what begins at i is not the rest of a longer word. The letter of an escape, as in \n or
// \u0022 or %3D, belongs to no word.
func beginsWord[T text](t T, i int) bool {
	if i == 0 || !isURLSafe(t[i-1]) {
		return true
	}
	return endsWith(t, i-1, `\`) || endsWith(t, i-4, `\u`) || endsWith(t, i-2, "%")
}

func isDigit(c byte) bool      { return '0' <= c && c <= '9' }
func isUpperAlnum(c byte) bool { return isDigit(c) || 'A' <= c && c <= 'Z' }
func isAlnum(c byte) bool      { return isUpperAlnum(c) || 'a' <= c && c <= 'z' }
func isURLSafe(c byte) bool    { return isAlnum(c) || c == '-' || c == '_' }
func isBearer(c byte) bool     { return isURLSafe(c) || strings.IndexByte(".~+/=%", c) >= 0 }

func isBetweenKeyLines(c byte) bool { return strings.IndexByte(" \t\r\n\"'`+,\\:-.()", c) >= 0 }
