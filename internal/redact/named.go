package redact

// A secret of no shape is told by what stands before it, as in password=…, "api_key": "…" or <token>…</token>, and by how little it looks like words.

const (
	longestName     = 64  // bytes of a name
	longestValue    = 512 // bytes of a value that are looked at
	longestGap      = 8   // of blanks between a sign and what it joins
	shortestTelling = 5   // bytes of what kindAt knows: "token"
)

// telling says how surely a name is that of a secret.
type telling int

const (
	unnamed  telling = iota
	weak             // as of a key, which may be one of a map
	strong           // as of a token
	password         // which a person may have made up
	header           // whose value is a line with a scheme, or with several values
)

// nameKind looks for what names of secrets hold, in a name in lower case, without the signs between its words.
func nameKind(flat []byte) telling {
	for i := 0; i+shortestTelling <= len(flat); i++ {
		if kind := kindAt(flat[i:]); kind != unnamed {
			return kind
		}
	}
	return unnamed
}

func kindAt(rest []byte) telling {
	starts := func(word string) bool { return len(rest) >= len(word) && string(rest[:len(word)]) == word }
	switch rest[0] {
	case 'p':
		switch {
		case starts("passw"), starts("passphrase"):
			return password
		case starts("privatekey"), starts("presharedkey"):
			return strong
		}
	case 'k':
		if starts("kennwort") {
			return password
		}
	case 's':
		switch {
		case starts("senha"):
			return password
		case starts("secret"), starts("segredo"), starts("signingkey"), starts("servicekey"), starts("sharedkey"):
			return strong
		}
	case 't':
		if starts("token") {
			return strong
		}
	case 'a':
		switch {
		case starts("authorization"):
			return header
		case starts("apikey"), starts("accesskey"), starts("accountkey"), starts("authkey"):
			return strong
		}
	case 'c':
		switch {
		case starts("cookie"):
			return header
		case starts("credential"), starts("clientkey"):
			return strong
		case starts("contrasena"):
			return password
		}
	case 'e':
		if starts("encryptionkey") {
			return strong
		}
	case 'g':
		if starts("geheim") {
			return strong
		}
	case 'm':
		if starts("masterkey") {
			return strong
		}
	}
	return unnamed
}

// lastWord is what a name is whose last word, by itself, says so.
func lastWord(word []byte) telling {
	switch string(word) {
	case "pwd", "pass", "pw":
		return password
	case "psk", "auth", "jwt", "bearer", "sid":
		return strong
	case "key", "sig", "signature":
		return weak
	}
	return unnamed
}

// isAbout says whether a name that ends in this word is of something about a secret.
func isAbout(word []byte) bool {
	switch string(word) {
	case "id", "name", "type", "path", "file", "url", "uri", "tokens", "length", "size", "hint":
		return true
	}
	return false
}

// kindOf says of what kind the name is that stands in t from start to end.
func kindOf[T text](t T, start, end int) telling {
	var flat [longestName]byte
	n, word := 0, 0
	for i := end; i > start; i-- { // of a path with dots, what is named last
		if t[i-1] == '.' {
			start = i
		}
	}
	for i := start; i < end; i++ {
		c := t[i]
		if !isAlnum(c) {
			word = n
			continue
		}
		if isUpper(c) {
			if i > start && isLower(t[i-1]) {
				word = n
			}
			c |= 0x20
		}
		flat[n] = c
		n++
	}
	if isAbout(flat[word:n]) {
		return unnamed
	}
	kind := nameKind(flat[:n])
	if kind == unnamed {
		kind = lastWord(flat[word:n])
	}
	for i := 0; kind != unnamed && i+6 <= n; i++ {
		if string(flat[i:i+6]) == "public" {
			return unnamed
		}
	}
	return kind
}

// assigned returns where the secret stands that the sign at i gives to a name, or -1.
func assigned[T text](t T, i int) (start, end int) {
	kind := nameBefore(t, i)
	if kind == unnamed {
		return -1, -1
	}
	v := valueAfter(t, i)
	switch {
	case v.end <= v.start || closesName(t, i), t[i] == ',' && !v.literal && !v.words:
		return -1, -1
	case kind == header:
		return headerSecret(t, v)
	case !isSecret(t, v, kind, t[i] == '='):
		return -1, -1
	}
	if v.end-v.start >= longestValue-1 { // the bound, less what ends a sentence
		for v.end < len(t) && isBearer(t[v.end]) {
			v.end++
		}
	}
	return v.start, v.end
}

// closesName says whether the quote behind the sign at i ends what began before the name: "password=" + x.
func closesName[T text](t T, i int) bool {
	start := nameStart(t, i)
	return start > 0 && start < i && i+1 < len(t) && isQuote(t[i+1]) && t[start-1] == t[i+1]
}

// nameBefore is the kind of the name that stands before the sign at i.
func nameBefore[T text](t T, i int) telling {
	end := i
	for gap := 0; gap < longestGap && end > 0 && isBetweenNameAndSign(t[end-1]); gap++ {
		end--
	}
	switch quoted := end < i && isQuote(t[i-1]); {
	case t[i] == ',' && !quoted, t[i] == '>' && end < i: // only ("name", "value") and <name>
		return unnamed
	}
	start := nameStart(t, end)
	if start == end || t[i] == '>' && (start == 0 || t[start-1] != '<') {
		return unnamed
	}
	kind := kindOf(t, start, end)
	switch {
	case kind != unnamed || t[i] == ',' || t[i] == '>':
		return kind
	case isWord(t, start, end, "value"):
		return nameOfValue(t, start)
	case t[i] == '=' && t[i-1] == ' ': // a type may stand between: password: str = "…", var password string = "…"
		before := start
		for gap := 0; gap < longestGap && before > 0 && (t[before-1] == ' ' || t[before-1] == ':' || t[before-1] == '*'); gap++ {
			before--
		}
		if before < start {
			return kindOf(t, nameStart(t, before), before)
		}
	}
	return unnamed
}

// nameStart is where the name begins that ends at end. What is too long is none.
func nameStart[T text](t T, end int) int {
	start := end
	for start > 0 && (isURLSafe(t[start-1]) || t[start-1] == '.') {
		if start--; end-start > longestName {
			return end
		}
	}
	if start > 0 && start < end && t[start-1] == '\\' { // the letter of an escape, or \u0026
		if start++; start+4 <= end && t[start-1] == 'u' && isHexDigit(t[start]) && isHexDigit(t[start+3]) {
			start += 4
		}
	}
	return start
}

// nameOfValue is the kind of a name given by another field of the same entry: name: DB_PASSWORD, value: …
func nameOfValue[T text](t T, end int) telling {
	const furthest = 120
	found, low := unnamed, max(0, end-furthest)
	for i := end; i > low; {
		c := t[i-1]
		switch {
		case c == '{' || c == '}' || c == '<':
			return found
		case isURLSafe(c):
			start := nameStart(t, i)
			if start == i { // it is too long, or the letter of an escape
				i--
				continue
			}
			found = max(found, kindOf(t, start, i))
			i = start
		default:
			i--
		}
	}
	return found
}

// isWord says whether t holds word, which is in lower case, from start to end.
func isWord[T text](t T, start, end int, word string) bool {
	if end-start != len(word) {
		return false
	}
	for i := range len(word) {
		if t[start+i]|0x20 != word[i] {
			return false
		}
	}
	return true
}

func isQuote(c byte) bool { return c == '"' || c == '\'' || c == '`' }

// isBetweenNameAndSign also lets through what marks a name: quotes, also escaped, brackets and stars.
func isBetweenNameAndSign(c byte) bool {
	return c == ' ' || c == '\t' || isQuote(c) || c == '\\' || c == ']' || c == '*' || c == ':' || c == '?'
}
