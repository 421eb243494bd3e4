package classify

import (
	"path"
	"regexp"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"sibyl/internal/text/search"
)

// endBytes is how much is read of each end of a long input: the request comes before or after what was pasted.
const endBytes = 1 << 10

// mark is the strongest punctuation after a token.
type mark int

const (
	none mark = iota
	comma
	sentence
	question
)

type kind int

const (
	word   kind = iota
	name        // an identifier, a path, an address or a number
	quoted      // words of somebody else
	pasted      // lines of a program, a trace or a query
)

func (k kind) String() string { return [...]string{"word", "name", "quoted", "pasted"}[k] }

// token is a word or a name of a text, or a stretch of it that somebody else wrote.
type token struct {
	kind  kind
	raw   string // without the punctuation around it
	seen  string // a word in lower case without accents, or the shape of all else
	after mark
}

// parsedText is a question in tokens and in sentences.
type parsedText struct {
	raw       string
	tokens    []token
	sentences [][2]int // first token, and the one behind the last
}

func parseText(raw string) *parsedText {
	t := &parsedText{raw: plain(raw)}
	t.addLines()
	if len(t.tokens) == 1 && t.tokens[0].kind == quoted { // nothing of their own is left
		t.raw, t.tokens = strings.Trim(t.raw, "> \t\"“”„«»"), nil
		t.addTokens(t.raw)
	}
	start := 0
	for i, tok := range t.tokens {
		if tok.after >= sentence || i == len(t.tokens)-1 {
			t.sentences = append(t.sentences, [2]int{start, i + 1})
			start = i + 1
		}
	}
	return t
}

// plain is the part of a text that is read, normalized and without invisible characters.
func plain(s string) string {
	if len(s) > 2*endBytes {
		s = s[:endBytes] + "\n" + s[len(s)-endBytes:]
	}
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, norm.NFKC.String(strings.ToValidUTF8(s, " "))))
}

// foreignLine matches lines of traces, queries and programs.
var foreignLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(
		`^goroutine \d|^at [\w$.<>]+\(|^File ".+", line|^[\w./-]+\.\w+:\d+|^#\d+ +0x|^(panic|\w+(Error|Exception)): |^Traceback ` +
			`|^[A-Z]{4,}( [A-Z]{4})? .*(FROM|SET|VALUES|WHERE|\()|^[^"]*[{}]$|\);?$|;$|^#include |^(import|from|func|def|class) [\w("].*[({:]`)
})

// addLines adds the tokens of all lines. Each run of lines that somebody else wrote becomes one token.
func (t *parsedText) addLines() {
	fenced := false
	for line := range strings.Lines(t.raw) {
		trimmed := strings.TrimSpace(line)
		last := token{}
		if n := len(t.tokens); n > 0 {
			last = t.tokens[n-1]
		}
		fence := strings.HasPrefix(trimmed, "```")
		fenced = fenced != fence
		k := word
		switch {
		case fence, fenced, last.kind == pasted && strings.IndexAny(line, " \t") == 0,
			foreignLine().MatchString(trimmed):
			k = pasted
		case strings.HasPrefix(trimmed, ">"):
			k = quoted
		}
		switch k {
		case word:
			t.addLine(trimmed)
		case last.kind:
			t.tokens[len(t.tokens)-1].raw += "\n" + trimmed
		default:
			t.tokens = append(t.tokens, token{kind: k, raw: trimmed, seen: "#" + k.String()})
		}
		t.setMark(sentence)
	}
}

func (t *parsedText) setMark(m mark) {
	if n := len(t.tokens); n > 0 {
		t.tokens[n-1].after = max(t.tokens[n-1].after, m)
	}
}

// markedSpan matches text in quotation marks, and names in backticks.
var markedSpan = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("`[^`]+`" + `|"[^"]+"|“[^”]+”|„[^“”]+[“”]|«[^»]+»`)
})

// addLine adds the tokens of a line in the person's own words.
func (t *parsedText) addLine(line string) {
	end := 0
	for _, at := range markedSpan().FindAllStringIndex(line, -1) {
		t.addTokens(line[end:at[0]])
		tok := token{kind: quoted, raw: strings.Trim(line[at[0]:at[1]], "`\"“”„«»"), seen: "#quoted"}
		if line[at[0]] == '`' {
			tok.kind, tok.seen = name, "#`"
		}
		t.tokens = append(t.tokens, tok)
		end = at[1]
	}
	t.addTokens(line[end:])
}

// addTokens adds what is between spaces as words, or as names if its shape says so, and sets the marks that punctuation
// makes.
func (t *parsedText) addTokens(line string) {
	for chunk := range strings.FieldsSeq(line) {
		core := strings.TrimRight(strings.TrimLeft(chunk, "([{<>|*~¿¡\"'‘"), ")]}>|*~\"'’.,:;!?…")
		_, tail, _ := strings.Cut(chunk, core)
		if strings.Contains(core, "(") && strings.HasPrefix(tail, ")") {
			core, tail = core+")", tail[1:]
		}
		if shape := shapeOf(core); shape != "" {
			t.tokens = append(t.tokens, token{kind: name, raw: core, seen: "#" + shape})
		} else {
			for _, part := range strings.FieldsFunc(core, func(r rune) bool {
				return strings.ContainsRune("-–—/+,;!?'’", r)
			}) {
				for _, w := range search.Words(part) {
					t.tokens = append(t.tokens, token{kind: word, raw: part, seen: w})
				}
			}
		}
		switch {
		case strings.Contains(tail, "?"):
			t.setMark(question)
		case strings.ContainsAny(tail, ".!;…"):
			t.setMark(sentence)
		case strings.ContainsAny(tail, ",:)"), strings.Trim(core, "-–—") == "":
			t.setMark(comma)
		}
	}
}

// maxExtension is the most letters that the extension of a file has.
const maxExtension = 4

// shapeOf is the shape of a chunk that is more than words: a number, the extension of a file, or a name in a program.
// It is "" for words, also for those joined by hyphens, slashes or apostrophes.
func shapeOf(core string) string {
	if strings.Trim(core, "0123456789.,:%") == "" && core != "" {
		return "number"
	}
	more, last := false, rune(0)
	for i, r := range core {
		joins := strings.ContainsRune("-–—/'’", r) && (i > 0 || r != '-' && r != '/')
		more = more || unicode.IsUpper(r) && unicode.IsLower(last) || !unicode.IsLetter(r) && !unicode.IsMark(r) &&
			!joins
		last = r
	}
	if !more || !strings.ContainsFunc(core, func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsSymbol(r)
	}) {
		return ""
	}
	if ending := path.Ext(core); len(ending) > 1 && len(ending) <= 1+maxExtension && ending != core {
		return ending
	}
	return "name"
}
