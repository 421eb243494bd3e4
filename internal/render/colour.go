package render

import (
	"html"
	"iter"
	"strings"
	"time"

	"github.com/alecthomas/chroma/v2"
	"github.com/yuin/goldmark/util"
)

// Limits of colouring in one text, since lexers may take very long on some texts. Code beyond the limits stays plain.
const (
	mostColoured = 64 << 10 // bytes of code
	colourWithin = time.Second
	longestFence = 40 // bytes of the name of a language, beyond which it has no lexer
)

// colouring colours the blocks of code of one text, within the limits; nil colours nothing.
type colouring struct {
	left  int // bytes that may still be coloured
	until time.Time
	// by language; nil for an unknown one, since the search for it is slow
	lexers map[string]chroma.Lexer
}

// write writes code as HTML, with a span and a class for each kind of word. Code without a known language or beyond the
// limits is only escaped.
func (c *colouring) write(w util.BufWriter, language, code string) {
	from, done, class := 0, 0, "" // begin and end of the words of one class
	flush := func() {
		words := html.EscapeString(code[from:done])
		if class != "" && words != "" {
			words = `<span class="` + class + `">` + words + `</span>`
		}
		_, _ = w.WriteString(words) // to memory
		from = done
	}
	for t := range c.tokens(language, code) {
		if !strings.HasPrefix(code[done:], t.Value) { // the lexer changed the text: don't trust it
			break
		}
		if is := classOf(t.Type); is != class {
			flush()
			class = is
		}
		done += len(t.Value)
	}
	flush()
	_, _ = w.WriteString(html.EscapeString(code[done:]))
}

// tokens returns the tokens of code until the time is up; none if it has too many bytes or no known language.
func (c *colouring) tokens(language, code string) iter.Seq[chroma.Token] {
	return func(yield func(chroma.Token) bool) {
		if c == nil || code == "" || len(code) > c.left {
			return
		}
		lexer := c.lexerFor(language)
		if lexer == nil {
			return
		}
		c.left -= len(code)
		next := startLexer(lexer, code)
		for next != nil {
			t := nextToken(next)
			if t == chroma.EOF || !time.Now().Before(c.until) || !yield(t) {
				return
			}
		}
	}
}

// startLexer starts a lexer on code; nil if that fails. Some lexers read all of it here, and may panic as in nextToken.
func startLexer(lexer chroma.Lexer, code string) (next chroma.Iterator) {
	defer func() {
		if recover() != nil {
			next = nil
		}
	}()
	next, err := lexer.Tokenise(&chroma.TokeniseOptions{State: "root"}, code)
	if err != nil {
		return nil
	}
	return next
}

// nextToken returns the next token. A lexer panics if a text leads it into a state that it lacks; that counts as EOF.
func nextToken(next chroma.Iterator) (t chroma.Token) {
	defer func() {
		if recover() != nil {
			t = chroma.EOF
		}
	}()
	return next()
}

// lexerFor returns the lexer of a language; nil if there is none, or no time left to search for it.
func (c *colouring) lexerFor(language string) chroma.Lexer {
	if language == "" || len(language) > longestFence {
		return nil
	}
	known, isKnown := c.lexers[language]
	if isKnown || time.Now().After(c.until) {
		return known
	}
	if c.lexers == nil {
		c.lexers = map[string]chroma.Lexer{}
	}
	c.lexers[language] = languages().Get(language)
	return c.lexers[language]
}

// classOf returns the class by which page.css colours a kind of word; "": not coloured.
func classOf(t chroma.TokenType) string {
	switch {
	case t.InCategory(chroma.Comment):
		return "comment"
	case t.InSubCategory(chroma.LiteralString):
		return "string"
	case t.InCategory(chroma.Literal):
		return "number"
	case t.InCategory(chroma.Keyword), t == chroma.OperatorWord:
		return "keyword"
	case t == chroma.GenericInserted:
		return "inserted"
	case t == chroma.GenericDeleted:
		return "deleted"
	case t == chroma.NameFunction, t == chroma.NameFunctionMagic, t == chroma.NameClass, t == chroma.NameTag,
		t == chroma.NameDecorator, t == chroma.NameNamespace:
		return "name"
	case t.InSubCategory(chroma.NameBuiltin), t == chroma.NameAttribute, t == chroma.NameConstant:
		return "known"
	}
	return ""
}
