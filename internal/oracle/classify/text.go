package classify

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Only the ends of a long input are read: a request stands before or after what was pasted.
const (
	headBytes = 4 << 10
	tailBytes = 1 << 10
)

// bounded returns the head and tail of a text, cut at rune boundaries and joined by a line break.
func bounded(s string) string {
	if len(s) <= headBytes+tailBytes {
		return strings.ToValidUTF8(s, " ")
	}
	head, tail := headBytes, len(s)-tailBytes
	for head > 0 && !utf8.RuneStart(s[head]) {
		head--
	}
	for tail < len(s) && !utf8.RuneStart(s[tail]) {
		tail++
	}
	return strings.ToValidUTF8(s[:head]+"\n"+s[tail:], " ")
}

// kind says what a token looks like before anybody asks what it means.
type kind int

const (
	word   kind = iota
	ident       // looks like a name in a program: camelCase, snake_case, a.b(), `quoted`, --flag
	path        // a file or folder, or a route
	link        // a URL or domain
	number      // digits, perhaps with a unit or as a version
	block       // fenced code, a line of a stack trace, SQL
	symbol      // emoji
)

// brk is the strongest boundary that follows a token.
type brk int

const (
	within   brk = iota
	comma        // , and dashes
	colon        // :
	sentence     // . ! ; and line ends
	question     // ?
)

// token is one word of the text. norm is in lower case and without accents.
type token struct {
	raw    string
	norm   string
	kind   kind
	quoted bool // stands in quotation marks: mentioned, not said
	after  brk
}

// text is a question in its parts.
type text struct {
	raw       string
	tokens    []token
	norms     []string // of the tokens
	sentences []span
}

// span is a stretch of tokens, from start to end-1.
type span struct{ start, end int }

func newText(raw string) *text {
	t := &text{raw: strings.TrimSpace(raw), tokens: tokenize(bounded(raw))}
	t.norms = make([]string, len(t.tokens))
	start := 0
	for i, tok := range t.tokens {
		t.norms[i] = tok.norm
		if tok.after >= sentence || i == len(t.tokens)-1 {
			t.sentences = append(t.sentences, span{start, i + 1})
			start = i + 1
		}
	}
	return t
}

// fold lower-cases and strips accents and typographic variants, so that one spelling of a word remains.
func fold(s string) string {
	s = strings.ToLower(s)
	if isASCII(s) {
		return s
	}
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) || unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, norm.NFKD.String(variants.Replace(s)))
}

// variants are spellings that Unicode does not take apart.
var variants = strings.NewReplacer("ß", "ss", "æ", "ae", "œ", "oe", "ø", "o", "’", "'", "‘", "'", "´", "'")

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf })
}

// tokenize splits a text into tokens. Fenced code and pasted traces become one block token per stretch, so that
// nothing inside them is taken for something the user said.
func tokenize(text string) []token {
	var out []token
	fenced, quoted := false, false
	for line := range strings.Lines(text) {
		trimmed := strings.TrimSpace(line)
		if strings.HasPrefix(trimmed, "```") {
			fenced = !fenced
			out = appendBlock(out, trimmed)
			continue
		}
		inBlock := len(out) > 0 && out[len(out)-1].kind == block && line[0] != '\n' && unicode.IsSpace(rune(line[0]))
		if fenced || inBlock || looksPasted(trimmed) {
			out = appendBlock(out, trimmed)
			continue
		}
		out = appendLine(out, trimmed, &quoted)
		if n := len(out); n > 0 && out[n-1].after < sentence {
			out[n-1].after = sentence
		}
		quoted = false
	}
	return out
}

func appendBlock(out []token, line string) []token {
	if n := len(out); n > 0 && out[n-1].kind == block {
		out[n-1].raw += "\n" + line
		return out
	}
	return append(out, token{raw: line, kind: block, after: sentence})
}

// appendLine tokenizes one line of prose. Back-ticked spans are kept whole.
func appendLine(out []token, line string, quoted *bool) []token {
	for line != "" {
		if span, rest, ok := cutSpan(line); ok {
			out = append(out, token{raw: span, norm: fold(span), kind: ident})
			line = strings.TrimLeft(rest, " \t")
			if line != "" {
				out[len(out)-1].after = boundary(line[:1])
			}
			continue
		}
		i := strings.IndexFunc(line, unicode.IsSpace)
		if j := strings.IndexByte(line, '`'); j > 0 && (i < 0 || j < i) && strings.IndexByte(line[j+1:], '`') >= 0 {
			i = j
		}
		chunk := line
		if i >= 0 {
			chunk, line = line[:i], strings.TrimLeftFunc(line[i:], unicode.IsSpace)
		} else {
			line = ""
		}
		out = appendChunk(out, chunk, quoted)
	}
	return out
}

func cutSpan(line string) (span, rest string, ok bool) {
	if line[0] != '`' {
		return "", "", false
	}
	end := strings.IndexByte(line[1:], '`')
	if end <= 0 {
		return "", "", false
	}
	return line[1 : 1+end], line[2+end:], true
}

const (
	openers = "([{<«“„‘*~¿¡>|"
	closers = ")]}>»”’*~.,;:!?…|"
	quotes  = "\"“”„«»"
)

// appendChunk turns a run of non-space characters into tokens and tracks quotation marks.
func appendChunk(out []token, chunk string, quoted *bool) []token {
	if chunk == "" {
		return out
	}
	if strings.Trim(chunk, "-–—") == "" {
		return withBreak(out, comma)
	}
	body := strings.TrimLeft(chunk, openers+"\"'")
	opens := strings.ContainsAny(chunk[:len(chunk)-len(body)], quotes) || strings.HasPrefix(chunk, "'")
	if opens {
		*quoted = true
	}
	core := strings.TrimRight(body, closers+"\"'")
	tail := body[len(core):]
	if strings.HasPrefix(tail, ")") && strings.Contains(core, "(") {
		core, tail = core+")", tail[1:]
	}
	for _, part := range splitCore(core) {
		for _, w := range apart(part) {
			t := token{raw: w, norm: fold(w), quoted: *quoted}
			t.kind = kindOf(w, t.norm)
			out = append(out, t)
		}
	}
	if strings.ContainsAny(tail, quotes) || strings.Contains(tail, "'") && *quoted {
		*quoted = false
	}
	if core == "" && !opens && strings.ContainsAny(tail, quotes) {
		*quoted = false
	}
	return withBreak(out, boundary(tail))
}

func withBreak(out []token, b brk) []token {
	if n := len(out); n > 0 && out[n-1].after < b {
		out[n-1].after = b
	}
	return out
}

func boundary(punct string) brk {
	switch {
	case strings.Contains(punct, "?"):
		return question
	case strings.ContainsAny(punct, ".!;…"):
		return sentence
	case strings.Contains(punct, ":"):
		return colon
	case strings.ContainsAny(punct, ",)"):
		return comma
	}
	return within
}

// splitCore separates words joined by hyphens, slashes or dashes, but keeps what looks like a name or a path whole.
func splitCore(core string) []string {
	if core == "" {
		return nil
	}
	if kindOf(core, fold(core)) != word {
		return []string{core}
	}
	parts := strings.FieldsFunc(core, func(r rune) bool { return strings.ContainsRune("-/–—,;!?()[]{}\"<>|=+….:", r) })
	return slices.DeleteFunc(parts, func(part string) bool {
		return !strings.ContainsFunc(part, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsSymbol(r) })
	})
}

// apart parts a word at an apostrophe between letters: what's is what and 's, l'eau is l' and eau.
func apart(w string) []string {
	at := strings.IndexAny(w, "'’")
	if at <= 0 || at == len(w)-1 {
		return []string{w}
	}
	_, size := utf8.DecodeRuneInString(w[at:])
	if before, after := w[:at], w[at+size:]; len(before) > 2 || len(after) < 3 {
		return []string{before, "'" + after}
	} else {
		return []string{before + "'", after}
	}
}
