package render

import (
	"html"
	"iter"
	"strings"
	"time"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"
	"github.com/yuin/goldmark/util"
)

// What is coloured of one text, at most. A lexer may take long on a text that is made for it; what is left then stays
// plain.
const (
	mostColoured = 64 << 10 // bytes of code
	colourWithin = time.Second
	longestFence = 40 // bytes of the name of a language
)

// colouring colours the blocks of code of one text.
type colouring struct {
	left  int // bytes
	until time.Time
	// by the names of languages, nil for one that is not known: looking for it takes long
	lexers map[string]chroma.Lexer
}

// write writes code in spans with a class for each kind of word. Only the fence's own name chooses the language; code
// of none, or too much of it, stays plain.
func (c *colouring) write(w util.BufWriter, language, code string) {
	from, done, class := 0, 0, "" // of the words of one class: where they begin and end
	flush := func() {
		words := html.EscapeString(code[from:done])
		if class != "" && words != "" {
			words = `<span class="` + class + `">` + words + `</span>`
		}
		_, _ = w.WriteString(words) // to memory
		from = done
	}
	for t := range c.tokens(language, code) {
		if !strings.HasPrefix(code[done:], t.Value) { // a lexer that changes the text is not believed
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

// tokens are those of code, as far as the bounds let it be coloured.
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

// startLexer begins with code; nil if the lexer can't. Some lexers read all of it here, and may panic as in nextOf.
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

// nextToken is the next token. A lexer panics on a text that leads it into a state that it lacks: that is an end.
func nextToken(next chroma.Iterator) (t chroma.Token) {
	defer func() {
		if recover() != nil {
			t = chroma.EOF
		}
	}()
	return next()
}

// lexerFor is that of a language; nil where there is none, or no time to look for it.
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
	c.lexers[language] = lexers.Get(language)
	return c.lexers[language]
}

// classOf is the class of a kind of word, as page.css colours it; "" stays as it is.
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
