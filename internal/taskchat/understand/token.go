package understand

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

type kind uint8

const (
	word   kind = iota
	number      // digits, with or without an ordinal ending
	sign        // punctuation
	emoji       // and every other symbol
)

// token is a piece of a message.
type token struct {
	kind       kind
	norm       string // lower case, without accents; one form for each sign
	start, end int    // bytes of the message
	value      int    // of a number up to three digits; else 0
	ordinal    bool   // a number that is written as an ordinal: 2nd, 2., 2ª
	quoted     bool   // between quotation marks
	glued      bool   // no space before it
	index      int    // in the message, where a language orders its words in its own way
}

// tokenize cuts a message into words, numbers and signs. Hyphens and apostrophes within a word belong to it.
func tokenize(s string) []token {
	tokens := make([]token, 0, len(s)/4+1)
	space := true
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		var t token
		switch {
		case r == '\n':
			t = token{kind: sign, norm: "\n", start: i, end: i + n}
		case unicode.IsSpace(r) || unicode.Is(unicode.Cf, r) || unicode.IsControl(r) || unicode.Is(unicode.Mn, r):
			i += n
			space = space || unicode.IsSpace(r)
			continue
		case r == '-' && len(tokens) > 0 && tokens[len(tokens)-1].end == i && clitics[fold(s[i:wordEnd(s, i+1)])]:
			t = token{kind: word, start: i, end: wordEnd(s, i+1)}
			t.norm = fold(s[t.start:t.end])
		case len(tokens) > 0 && tokens[len(tokens)-1].end == i && apostropheS(s[i:]) > 0: // "the boiler's repaired", "Anna's birthday"
			t = token{kind: word, norm: "'s", start: i, end: i + apostropheS(s[i:])}
		case unicode.IsDigit(r):
			t = numeral(s, i)
		case unicode.IsLetter(r):
			t = token{kind: word, start: i, end: wordEnd(s, i)}
			t.norm = fold(s[t.start:t.end])
			if stem, ok := strings.CutSuffix(t.norm, "'s"); ok && !isWord(t.norm) {
				t.norm, t.end = stem, t.start+strings.LastIndexAny(s[t.start:t.end], "'’‘")
			}
			if stem, clitic := enclitic(t.norm); clitic != "" { // "apague-a": a verb and its object
				end := t.start + strings.LastIndexByte(s[t.start:t.end], '-')
				t.norm, t.end = stem, end
			}
		case strings.HasPrefix(s[i:], "->"), strings.HasPrefix(s[i:], "=>"):
			t = token{kind: sign, norm: "->", start: i, end: i + 2}
		default:
			t = token{kind: sign, norm: signs(r), start: i, end: i + n}
			if t.norm == "" {
				t.kind, t.norm = emoji, string(r)
			}
		}
		t.glued, space, t.index = !space, false, len(tokens)
		i = t.end
		tokens = append(tokens, t)
	}
	quote(tokens)
	return tokens
}

// signs gives one form to signs that mean the same; "" for none.
func signs(r rune) string {
	switch r {
	case '"', '“', '”', '„', '«', '»', '‟':
		return `"`
	case '\'', '‘', '’', '‚', '`', '´', '‹', '›':
		return "'"
	case '-', '–', '—', '−', '•':
		return "-"
	case '→', '➔', '⇒':
		return "->"
	case '…':
		return "."
	case '¿', '¡':
		return "("
	}
	if r < utf8.RuneSelf && !unicode.IsLetter(r) || unicode.IsPunct(r) {
		return string(r)
	}
	return ""
}

// wordEnd is the end of the word that begins at i.
func wordEnd(s string, i int) int {
	for i < len(s) {
		r, n := utf8.DecodeRuneInString(s[i:])
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.Is(unicode.Mn, r) {
			joins := r == '-' || r == '\'' || r == '’'
			next, _ := utf8.DecodeRuneInString(s[i+n:])
			if !joins || i+n >= len(s) || !unicode.IsLetter(next) {
				break
			}
		}
		i += n
	}
	return i
}

// apostropheS is the length of "'s" at the end of a word; 0: there is none.
func apostropheS(s string) int {
	for _, mark := range []string{"'", "’", "‘"} {
		if rest, ok := strings.CutPrefix(s, mark); ok && (strings.HasPrefix(rest, "s") || strings.HasPrefix(rest, "S")) && wordEnd(rest, 1) == 1 {
			return len(mark) + 1
		}
	}
	return 0
}

// isWord says that a language has a word in any class.
func isWord(w string) bool {
	for _, l := range lexicons() {
		if l.known(w) {
			return true
		}
	}
	return false
}

// clitics are pronouns that Portuguese ties to a verb with a hyphen.
var clitics = map[string]bool{"-a": true, "-o": true, "-as": true, "-os": true, "-la": true, "-lo": true, "-las": true, "-los": true, "-me": true, "-lhe": true,
	"-lhes": true, "-te": true, "-se": true, "-nos": true}

func enclitic(w string) (stem, clitic string) {
	if i := strings.LastIndexByte(w, '-'); i > 1 && clitics[w[i:]] {
		return w[:i], w[i:]
	}
	return w, ""
}

// numeral reads digits, and the ordinal ending of them if there is one. Digits that letters or further digits follow are a word: 3pm, 10.30, 1/2.
func numeral(s string, start int) token {
	i := start
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		i++
	}
	t := token{kind: number, start: start, end: i}
	if i-start <= 3 && i > start {
		t.value, _ = strconv.Atoi(s[start:i])
	}
	end := i
	for end < len(s) {
		r, n := utf8.DecodeRuneInString(s[end:])
		next, _ := utf8.DecodeRuneInString(s[end+n:])
		inside := strings.ContainsRune(".,:/", r) && unicode.IsDigit(next)
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !inside && r != 'º' && r != '°' && r != '%' && r != '€' && r != '$' {
			break
		}
		end += n
	}
	suffix := fold(s[i:end])
	switch suffix {
	case "":
	case "st", "nd", "rd", "th", "a", "o", "º", "°", "te", "ten", "ter", "tes":
		t.ordinal = true
	default:
		t.kind, t.value = word, 0
	}
	if commaSeparated(s[start:end]) && t.kind == word { // "1,3" names two positions where it is a reference; else it is an amount
		t.norm, t.end = s[start:end], end
		return t
	}
	if suffix == "" && end < len(s) && s[end] == '.' && (end+1 == len(s) || s[end+1] == ' ') {
		t.ordinal = end+1 < len(s) // "2. löschen"; the full stop at the end of a message is none
	}
	t.end, t.norm = end, fold(s[start:end])
	return t
}

func commaSeparated(s string) bool { return strings.ContainsRune(s, ',') }

// fold gives the form in which words are compared: lower case, without accents, with one apostrophe.
func fold(s string) string {
	ascii := true
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			ascii = false
			break
		}
	}
	if ascii {
		return strings.ToLower(s)
	}
	var out strings.Builder
	for _, r := range norm.NFD.String(s) {
		switch {
		case unicode.Is(unicode.Mn, r):
		case r == 'ß' || r == 'ẞ':
			out.WriteString("ss")
		case r == '’' || r == '‘':
			out.WriteByte('\'')
		default:
			out.WriteRune(unicode.ToLower(r))
		}
	}
	return out.String()
}

// quote marks what stands between quotation marks. An apostrophe opens one only before a word and closes it only behind one.
func quote(tokens []token) {
	for i := 0; i < len(tokens); i++ {
		mark := tokens[i].norm
		if tokens[i].kind != sign || mark != `"` && mark != "'" || mark == "'" && tokens[i].glued {
			continue
		}
		for j := i + 1; j < len(tokens); j++ {
			if tokens[j].kind == sign && tokens[j].norm == mark && (mark == `"` || tokens[j].glued) {
				for k := i; k <= j; k++ {
					tokens[k].quoted = true
				}
				i = j
				break
			}
		}
	}
}
