package redact

import (
	"regexp"
	"slices"
	"strings"
)

// A secret without a known shape is recognised by the name before it, as in password=…, "api_key": "…" or
// <token>…</token>, and by how little it looks like words.

// nameKind says what kind of secret a name stands for, and how surely.
type nameKind int

const (
	unnamed  nameKind = iota
	weak              // such as key, which may be that of a map
	strong            // such as token
	password          // a person may have made it up
	header            // its value is a line with a scheme, or with several values
)

// nameWords are the words in the names of secrets, in lower case, that are searched in a text. “value” is the name of a
// field whose own name is in another field: name: DB_PASSWORD, value: …
const nameWords = `pass|kennwort|senha|contrasena|secret|segredo|token|geheim|credential|cookie|auth|` +
	`key|pwd|pw=|pw:|pw"|pw |psk|jwt|bearer|sid|sig|value`

const maxName = 64 // bytes

var signRemover = strings.NewReplacer("_", "", "-", "")

// kindOfName is the kind of a name; if it has dots, of the part after the last one.
func kindOfName(name string) nameKind {
	name = name[strings.LastIndexByte(name, '.')+1:]
	if len(name) > maxName {
		return unnamed
	}
	last, flat := strings.ToLower(lastWord(name)), strings.ToLower(name)
	if strings.ContainsAny(flat, "_-") {
		flat = signRemover.Replace(flat)
	}
	holds := func(words ...string) bool {
		return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(flat, word) })
	}
	switch last {
	case "id", "name", "type", "path", "file", "url", "uri", "tokens", "length", "size", "hint": // about a secret
		return unnamed
	}
	switch {
	case last == "authorization" || strings.HasPrefix(last, "cookie"):
		return header
	case holds("public"):
		return unnamed
	case holds("passw", "passphrase", "kennwort", "senha", "contrasena"):
		return password
	case holds("secret", "segredo", "token", "geheim", "credential"):
		return strong
	case holds("key") && holds("apikey", "accesskey", "accountkey", "authkey", "clientkey", "encryptionkey",
		"masterkey", "presharedkey", "privatekey", "servicekey", "sharedkey", "signingkey"):
		return strong
	}
	switch last {
	case "pwd", "pass", "pw":
		return password
	case "psk", "auth", "jwt", "bearer", "sid":
		return strong
	case "key", "sig", "signature":
		return weak
	}
	return unnamed
}

// lastWord is the last word of a name: after a sign, or from the last capital that begins a word.
func lastWord(name string) string {
	i := len(name)
	for i > 0 && isAlnum(name[i-1]) && (i == len(name) || !isUpper(name[i]) || !isLower(name[i-1])) {
		i--
	}
	return name[i:]
}

// assignment matches what follows a name: its sign (after what may close the name, or a type), then a value in quotes,
// or one without.
var assignment = regexp.MustCompile(`\A(` + quoteSign + `|[\]*?])*[ \t]*` +
	`(?:(?::[ \t]*)?\*?[A-Za-z][\w.]* (=)|(=\\+u003e|\\+u003e|=>|:=|=[=~]?|[:,> ]))[ \t*]*` +
	`(?:[bru@]?(` + quoteSign + `)(` + valueSign + `+)|((?:[^\s"'` + "`" + `\\()<>\[\]{};|]|` + escapeSign + `)+))`)

// Where the groups of assignment begin in a match: each has two indices.
const (
	closing = 2 * (1 + iota)
	typedSign
	sign
	opening
	quoted
	bare
)

// findNamed is a finder: at i there is a word of nameWords. It reads the whole name around it, and finds the value
// after it, if the name is that of a secret and the value does not look like words; else -1. longestAt checks from.
func findNamed(t string, from, i int) (start, end int) {
	first, last := nameAt(t, i)
	stop := min(len(t), last+maxToken)
	if last == len(t) || strings.IndexByte("\"'`\\]*? \t:=,>", t[last]) < 0 || last-first > maxName {
		return -1, -1
	}
	kind := kindOfName(t[first:last])
	if strings.EqualFold(t[first:last], "value") {
		kind = kindBefore(t, first)
	}
	if kind == unnamed {
		return -1, -1
	}
	if !isOption(t, first) && !mayAssign(t[last:stop]) {
		return -1, -1
	}
	m := assignment.FindStringSubmatchIndex(t[last:stop])
	if m == nil {
		return -1, -1
	}
	for g := range m {
		if m[g] >= 0 {
			m[g] += last
		}
	}
	between := "=" // the sign behind a type
	if m[sign] >= 0 {
		between = t[m[sign]:m[sign+1]]
	}
	if !isAssignment(t, first, between, kind, m) {
		return -1, -1
	}
	group := bare
	if m[opening] >= 0 {
		group = quoted
	}
	start, end = m[group], m[group+1]
	if kind == header && (group == quoted || between[0] == ':') {
		return headerSecret(t, start)
	}
	if isLongerText(t, end, group == quoted) {
		return -1, -1
	}
	// A line of a settings file: NAME=value.
	setting := m[sign] >= 0 && m[closing] < 0 && between == "=" && beginsSetting(t, first)
	switch {
	case setting:
		end = start + len(strings.TrimRight(cutQuery(t[start:end]), ".,"))
	case group == bare:
		end = start + len(strings.TrimRight(cutQuery(t[start:end]), ".,:!?*"))
	}
	literal := group == quoted || setting || isOption(t, first)
	endsLine := end == len(t) || strings.IndexByte("\r\n\\\"'`", t[end]) >= 0
	switch {
	case kind == weak && !isWeakSecret(t[start:end], literal || t[start-1] == '='):
		return -1, -1
	case kind != weak && !isSecret(t[start:end], kind, literal, endsLine):
		return -1, -1
	}
	return start, extendToken(t, end, stop)
}

// mayAssign says whether a sign may follow a name, after what may close it or a type: few words of prose have one.
func mayAssign(behind string) bool {
	rest := strings.TrimLeft(behind, "\\\"'`]*? \t")
	if rest == "" || strings.IndexByte("=:,>", rest[0]) >= 0 || strings.HasPrefix(rest, "u003e") {
		return rest != ""
	}
	typed := strings.TrimLeftFunc(rest, func(r rune) bool { return r == '_' || r == '.' || !isSign(r) })
	return strings.HasPrefix(typed, " =")
}

// isAssignment says whether the sign between a name and a value assigns the value to the name. m are the groups of
// assignment.
func isAssignment(t string, first int, between string, kind nameKind, m []int) bool {
	const leastListed = 12
	before := t[:first]
	switch {
	case between == " ":
		return isOption(t, first)
	case between == ",": // only ("name", "value")
		return m[closing] >= 0 && m[opening] >= 0 && (kind == header || m[quoted+1]-m[quoted] >= leastListed)
	case between == ">":
		return strings.HasSuffix(before, "<") || strings.HasSuffix(before, "&lt;")
	case strings.HasPrefix(between, `\`):
		return strings.HasSuffix(before, "u003c")
	}
	joined := m[closing] < 0 && m[opening] >= 0 && m[sign+1] == m[opening]
	return !joined || first == 0 || t[first-1] != t[m[opening]] // "password=" + x
}

// isLongerText says whether a value that seems to end at end continues: in quotes with further words, else as an
// expression.
func isLongerText(t string, end int, quoted bool) bool {
	switch {
	case end == len(t):
		return false
	case quoted:
		return t[end] == ' '
	}
	return t[end] == '(' || t[end] == '[' || t[end] == '{'
}

// isOption says whether a name is an option of a command.
func isOption(t string, first int) bool { return strings.HasPrefix(t[first:], "--") }

// nameAt is where the name around the word at i begins and ends.
func nameAt(t string, i int) (first, last int) {
	first, last = i, i
	for first > 0 && i-first <= maxName && (isURLSafe(t[first-1]) || t[first-1] == '.') {
		first--
	}
	for last < len(t) && last-i <= maxName && (isURLSafe(t[last]) || t[last] == '.') {
		last++
	}
	if first > 0 && first < last && t[first-1] == '\\' { // the letter of an escape, or \u0026
		if first++; first+4 <= last && t[first-1] == 'u' && isHexDigit(t[first]) && isHexDigit(t[first+3]) {
			first += 4
		}
	}
	return min(first, last), last
}

// kindBefore is the kind of a name given by another field of the same entry: name: DB_PASSWORD, value: …
func kindBefore(t string, end int) (kind nameKind) {
	const furthest = 120
	before := t[max(0, end-furthest):end]
	before = before[strings.LastIndexAny(before, "{}<")+1:]
	for _, word := range strings.FieldsFunc(before, func(r rune) bool {
		return isSign(r) && !strings.ContainsRune("._-", r)
	}) {
		kind = max(kind, kindOfName(word))
	}
	return kind
}

// beginsSetting says whether a name begins its line or its quotation, as in a file of environment variables.
func beginsSetting(t string, first int) bool {
	before := strings.TrimSuffix(t[:first], "export ")
	return before == "" || strings.HasSuffix(before, `\n`) || strings.IndexByte("\n\"'`", before[len(before)-1]) >= 0
}

var nextParameter = regexp.MustCompile(`(?:&|\\+u0026)(?:[\w.%-]*[=;&]|(?:amp|quot|lt|gt|#\d+)\z)`)

// cutQuery removes what follows a value in a query: another name with its value, or an entity of HTML.
func cutQuery(text string) string {
	if !strings.Contains(text, "&") && !strings.Contains(text, "u0026") {
		return text
	}
	if at := nextParameter.FindStringIndex(text); at != nil {
		return text[:at[0]]
	}
	return text
}

// headerSecret finds the secret of an Authorization or Cookie header whose value begins at start: it is after the
// scheme. Of cookies, it is all of them.
func headerSecret(t string, start int) (int, int) {
	const leastHeader, longestScheme = 12, 12
	value := t[start:min(len(t), start+maxToken)]
	if end := strings.IndexAny(value, "\r\n\"'`\\"); end >= 0 {
		value = value[:end]
	}
	value = strings.TrimRight(value, ".,:!?*")
	scheme, rest, found := strings.Cut(value, " ")
	if found && len(scheme) <= longestScheme && !strings.ContainsFunc(strings.ReplaceAll(scheme, "-", ""), isSign) {
		start += len(value) - len(rest)
		value = rest
	}
	for i, piece := range strings.FieldsFunc(value, func(r rune) bool { return r == ' ' || r == ';' || r == ',' }) {
		name, of, pair := strings.Cut(piece, "=")
		if pair && strings.Trim(of, "=") != "" {
			piece = of
		} else if name = ""; len(piece) < leastHeader {
			continue
		}
		if len(piece) < leastHeader || !isSecret(piece, strong, true, false) {
			continue
		}
		if i == 0 && name == "" { // a token by itself: what follows is prose
			return start, start + len(piece)
		}
		return start, start + len(value)
	}
	return -1, -1
}
