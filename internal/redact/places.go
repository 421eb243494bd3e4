package redact

// Secrets that are told by the place where they stand: in an address, a header, a line of .netrc or .pgpass, an option of a command.

// headerSecret returns where the secret of an Authorization or Cookie header stands: behind its scheme; of cookies, all of them.
func headerSecret[T text](t T, v value) (start, end int) {
	end = v.start
	for stop := min(len(t), v.start+longestValue); end < stop && t[end] >= ' ' && !isQuote(t[end]) && t[end] != '\\'; end++ {
	}
	end = trimmed(t, v.start, end)
	start = v.start
	word := start
	for word < end && isAlnum(t[word]) {
		word++
	}
	if word < end && t[word] == ' ' && word-start <= longestScheme {
		start = word + 1
	}
	for from := start; from < end; {
		to := from
		for to < end && t[to] > ' ' && t[to] != ';' && t[to] != ',' {
			to++
		}
		piece := from
		for i := from; i < to && t[i] != '='; i++ {
			if i+1 < to && t[i+1] == '=' && !isBearerEnd(t, i+2, to) {
				piece = i + 2
			}
		}
		if to-piece >= leastHeader && isSecret(t, value{start: piece, end: to, literal: true}, strong, false) {
			if piece == from { // a token by itself: what follows is prose
				return from, to
			}
			return start, end
		}
		from = to + 1
	}
	return -1, -1
}

const (
	longestScheme = 12 // of a header: Basic, Bearer, Token
	leastHeader   = 12 // of a token in one
)

// isBearerEnd says whether only the padding of a token stands from i to end.
func isBearerEnd[T text](t T, i, end int) bool {
	for i < end && t[i] == '=' {
		i++
	}
	return i == end
}

// addressSecret returns where the password stands in an address whose scheme ends at i: scheme://user:password@host.
func addressSecret[T text](t T, i int) (start, end int) {
	const longest = 512
	at := i + 1
	for range 2 {
		if at < len(t) && t[at] == '\\' {
			at++
		}
		if at >= len(t) || t[at] != '/' {
			return -1, -1
		}
		at++
	}
	colon, sign := -1, -1
	for j, stop := at, min(len(t), at+longest); j < stop && t[j] > ' ' && !isQuote(t[j]) && t[j] != '/' && t[j] != '?' && t[j] != '#' && !escapeEnds(t, j); j++ {
		switch {
		case t[j] == ':' && colon < 0:
			colon = j
		case t[j] == '@':
			sign = j
		}
	}
	switch {
	case sign < 0 || sign+1 >= len(t) || !isAlnum(t[sign+1]) && t[sign+1] != '[' && t[sign+1] != '/':
		return -1, -1
	case colon < 0 || colon > sign: // a token in the place of a user
		if text := t[at:sign]; len(text) >= leastWeak && !isPlaceholder(text) && surprise(text) >= manyBits*float64(len(text)) {
			return at, sign
		}
		return -1, -1
	case string(t[at:colon]) == string(t[colon+1:sign]), isAddressPlaceholder(t[colon+1:sign]) || kindOf(t, colon+1, min(sign, colon+1+longestName)) != unnamed:
		return -1, -1
	}
	return colon + 1, sign
}

// isAddressPlaceholder says whether a password of an address stands for another.
func isAddressPlaceholder[T text](t T) bool {
	if len(t) < 2 || isPlaceholder(t) || t[0] == '$' || t[0] == ':' || t[0] == '%' && len(t) > 1 && !isHexDigit(t[1]) {
		return true
	}
	masked := true // xxx, ***
	for i := range len(t) {
		if t[i] == '{' || t[i] == '<' || t[i] == '(' {
			return true
		}
		masked = masked && (t[i]|0x20 == 'x' || t[i] == '*' || t[i] == '.')
	}
	return masked
}

// netrcSecret returns where the password of a .netrc stands whose word login begins at i.
func netrcSecret[T text](t T, i int) (start, end int) {
	const before = 300
	if !holds(t[max(0, i-before):i], "machine ") && !holds(t[max(0, i-before):i], "default ") {
		return -1, -1
	}
	name, user := nextWord(t, i+len("login"))
	from, to := nextWord(t, user)
	if !isWord(t, from, to, "password") {
		return -1, -1
	}
	const least = 4
	if start, end = nextWord(t, to); end-start < least || string(t[name:user]) == string(t[start:end]) || isAddressPlaceholder(t[start:end]) || kindOf(t, start, min(end, start+longestName)) != unnamed {
		return -1, -1
	}
	return start, end
}

func holds[T text](t T, word string) bool {
	for end := len(word); end <= len(t); end++ {
		if endsWith(t, end, word) {
			return true
		}
	}
	return false
}

// nextWord is the word after the blanks at i; an escaped line break is one of them. Without a blank there is none.
func nextWord[T text](t T, i int) (start, end int) {
	start = i
	for start < len(t) && start < i+longestName {
		switch {
		case t[start] == ' ' || t[start] == '\t' || t[start] == '\n' || t[start] == '\r':
			start++
			continue
		case t[start] == '\\' && start+1 < len(t) && (t[start+1] == 'n' || t[start+1] == 'r' || t[start+1] == 't'):
			start += 2
			continue
		case start > i && (t[start] == '\\' || t[start] == ',' || isQuote(t[start])), t[start] == '\\' || isQuote(t[start]): // lines as a list of texts
			start++
			continue
		}
		break
	}
	end = start
	if start == i {
		return start, end
	}
	for stop := min(len(t), start+longestValue); end < stop && t[end] > ' ' && !escapeEnds(t, end) && !isQuote(t[end]); end++ {
	}
	return start, end
}

// passwordLine returns where the password of a line of .pgpass stands, whose first sign is at i: host:port:database:user:password.
func passwordLine[T text](t T, i int) (start, end int) {
	const longest = 255
	at := i + 1
	for at < len(t) && at-i <= 5 && isDigit(t[at]) {
		at++
	}
	if at == i+1 && at < len(t) && t[at] == '*' {
		at++
	} else if at-i < 5 { // a port of four digits or five
		return -1, -1
	}
	if at >= len(t) || t[at] != ':' {
		return -1, -1
	}
	host := i
	for host > 0 && i-host < longest && t[host-1] > ' ' && t[host-1] != ':' && !isQuote(t[host-1]) && !(t[host-1] == 'n' && host > 1 && t[host-2] == '\\') {
		host--
	}
	if host == i || host > 0 && t[host-1] == ':' {
		return -1, -1
	}
	if user := at; user+1 < len(t) && isDigit(t[user+1]) { // of an address of IPv6
		return -1, -1
	}
	for field := 0; field < 2; field++ {
		from := at + 1
		for at = from; at < len(t) && at-from < longest && t[at] > ' ' && t[at] != ':'; at++ {
		}
		if at >= len(t) || at == from || t[at] != ':' {
			return -1, -1
		}
	}
	v := settingValue(t, at+1)
	if !isSecret(t, v, password, false) {
		return -1, -1
	}
	return v.start, v.end
}

// optionSecret returns where the secret stands that an option of a command line gives, whose name begins behind the dashes at i.
func optionSecret[T text](t T, i int) (start, end int) {
	name := i + 2
	at := name
	for at < len(t) && at-name < longestName && isURLSafe(t[at]) {
		at++
	}
	if at >= len(t) || t[at] != ' ' {
		return -1, -1
	}
	kind := kindOf(t, name, at)
	if isWord(t, name, at, "user") || isWord(t, name, at, "proxy-user") {
		return userSecret(t, at)
	}
	v := valueAfter(t, at)
	v.literal = true
	if kind < strong || v.end <= v.start || t[v.start] == '-' || !isSecret(t, v, password, false) {
		return -1, -1
	}
	return v.start, v.end
}

// userSecret returns where the password stands in the user:password of a command that asks a server, after the blank at i.
func userSecret[T text](t T, i int) (start, end int) {
	v := valueAfter(t, i)
	for at := v.start; at < v.end && !v.words; at++ {
		if t[at] == ':' {
			if v.start = at + 1; v.end-v.start < 6 || t[at+1] == '/' || isAddressPlaceholder(t[v.start:v.end]) ||
				kindOf(t, v.start, min(v.end, v.start+longestName)) != unnamed || classes(t[v.start:v.end]).letters() == 0 {
				return -1, -1
			}
			return v.start, v.end
		}
	}
	return -1, -1
}
