package redact

import "encoding/base64"

const (
	maxLabel = 60
	maxKey   = 32 << 10
	leastKey = 40   // of a run of key; the shortest keys have one line of 64
	leastRun = 16   // at the end of one that was cut off
	soonKey  = 1024 // bytes within which a key has its first line
	nextLine = 32   // from one line of a key to the next, with what numbers or quotes it
	mostGap  = 200  // of other text between two runs of a key that was cut off: headers, decoration of lines
)

// privateKeyEnd takes all from the first marker to the last, RFC 7468 and its kin. What stands between is loose, since a key may be quoted line by
// line, numbered, or have headers; but there must be a line of key in it, so that a program that only names the markers is left alone. A key that
// was cut off ends with its last piece.
func privateKeyEnd[T text](t T, i, label int) int {
	end := i + label
	for stop := min(len(t), end+maxLabel); end < stop && t[end] != '-'; {
		end++
	}
	if !namesPrivateKey(t, end) {
		return -1
	}
	for end < len(t) && (t[end] == '-' || t[end] == ' ' && end+1 < len(t) && t[end+1] == '-') {
		end++
	}
	end, cut := keyLines(t, end)
	const last = "END "
	close := end
	for close < len(t) && (t[close] == '-' || t[close] == ' ' && close > end) {
		close++
	}
	switch {
	case cut < 0:
		return -1
	case len(t)-close < len(last) || string(t[close:close+len(last)]) != last:
		return cut
	}
	for end = close + len(last); end < len(t) && (isUpperAlnum(t[end]) || t[end] == ' '); {
		end++
	}
	for end < len(t) && t[end] == '-' {
		end++
	}
	return end
}

// namesPrivateKey says whether the label of a marker that ends at end is that of a private key.
func namesPrivateKey[T text](t T, end int) bool {
	for end > 0 && t[end-1] == ' ' {
		end--
	}
	return endsWith(t, end, "PRIVATE KEY") || endsWith(t, end, "PRIVATE KEY BLOCK")
}

// keyLines reads lines of key until a marker, or what is none. cut is where the last run of key ended, -1 if there was no line of it.
func keyLines[T text](t T, from int) (end, cut int) {
	run, longestRun := 0, 0
	end, cut = from, -1
	for stop := min(len(t), end+maxKey); end < stop; end++ {
		c := t[end]
		if c == '-' && end+1 < len(t) && t[end+1] == '-' || longestRun < leastKey && end-from > soonKey || longestRun >= leastKey && end-cut > mostGap {
			break
		}
		if isKey(c) {
			if run++; run >= leastKey || run >= leastRun && (cut < 0 || end+1-run-cut <= nextLine) { // only the last line is shorter, and it is near
				cut = end + 1
			}
			longestRun = max(longestRun, run)
			continue
		}
		if run = 0; !isBetweenKeyLines(c) {
			break
		}
	}
	if longestRun < leastKey {
		return end, -1
	}
	return end, cut
}

// privateKeyStart is where a key begins whose end marker stands at i and whose beginning was cut off, or -1.
func privateKeyStart[T text](t T, from, i int) (start, end int) {
	end = i + len("-----END ")
	for stop := min(len(t), end+maxLabel); end < stop && t[end] != '-'; {
		end++
	}
	if !namesPrivateKey(t, end) {
		return -1, -1
	}
	for end < len(t) && t[end] == '-' {
		end++
	}
	run, longestRun, first := 0, 0, i
	for at := i; at > max(from, i-maxKey); at-- {
		c := t[at-1]
		if c == '-' || first-at > mostGap && run < leastRun {
			break
		}
		if isKey(c) {
			if run++; run >= leastKey || run >= leastRun && longestRun < leastKey { // only the last line of a key is shorter
				first = at - 1
			}
			longestRun = max(longestRun, run)
			continue
		}
		if run = 0; !isBetweenKeyLines(c) {
			break
		}
	}
	if longestRun < leastKey {
		return -1, -1
	}
	return first, end
}

// puttyKeyEnd takes the lines of a key of PuTTY, which begin after the words at i and their number.
func puttyKeyEnd[T text](t T, i int) (start, end int) {
	for start = i; start < len(t) && t[start] != '\n' && t[start] != '\\'; start++ {
		if start-i > maxLabel {
			return -1, -1
		}
	}
	if _, end = keyLines(t, start); end < 0 {
		return -1, -1
	}
	for start < end && !isKey(t[start]) || start+1 < end && t[start-1] == '\\' {
		start++
	}
	return start, end
}

// encodedKeyEnd is where base64 ends that begins at i and holds a private key in PEM, as in a kube configuration, or -1.
func encodedKeyEnd[T text](t T, i int) int {
	const enough = 64
	if len(t)-i < enough {
		return -1
	}
	var source, plain [enough]byte
	copy(source[:], t[i:i+enough])
	n, err := base64.StdEncoding.Decode(plain[:], source[:])
	for at := 0; err == nil && at <= n; at++ {
		if endsWith(plain[:n], at, "PRIVATE KEY") {
			end := i + enough
			for end < len(t) && isKey(t[end]) {
				end++
			}
			return end
		}
	}
	return -1
}

func isKey(c byte) bool { return isAlnum(c) || c == '+' || c == '/' || c == '=' }

// isBetweenKeyLines says what may stand between pieces of a key: blanks, headers, quotes, escapes, and what numbers, quotes or marks a line.
func isBetweenKeyLines(c byte) bool {
	switch c {
	case ' ', '\t', '\r', '\n', '"', '\'', '`', ',', '\\', ':', '-', '.', '(', ')', '|', '>', '#', '*', '@', '<', '_':
		return true
	}
	return false
}
