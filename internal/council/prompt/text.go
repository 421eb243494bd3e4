package prompt

import (
	"cmp"
	_ "embed" // the words
	"encoding/json"
	"regexp"
	"strings"
	"sync"
	"unicode"

	"sibyl/internal/council/persona"
	"sibyl/internal/text"
	"sibyl/internal/text/language"
)

const timeFormat = "2006-01-02 15:04:05" // UTC

const maxName = 200 // characters of an oracle's name in a header

//go:embed words.json
var wordsFile []byte

// words are what a context says in a language.
type words struct {
	Transcript, Oracle     string    // in headers
	Of, And                string    // “7 of 9 transcripts and 1 of 2 responses”
	Transcripts, Responses [2]string // one, more
	Left                   [2]string // what became of one that was left out, and of more
	Shortened              string
}

var allWords = sync.OnceValue(func() (all map[string]words) {
	if err := json.Unmarshal(wordsFile, &all); err != nil {
		panic(err) // the file is a part of the program
	}
	return all
})

func wordsOf(tongue string) words {
	if w, known := allWords()[tongue]; known {
		return w
	}
	return allWords()["pt"]
}

// Compose puts a context into a persona: in place of each placeholder, or after the file and a blank line. The context
// is taken as it is.
func Compose(p persona.Persona, context string) string {
	if p.Placeholder != "" && strings.Contains(p.Content, p.Placeholder) {
		return strings.ReplaceAll(p.Content, p.Placeholder, context)
	}
	content := strings.TrimRightFunc(p.Content, unicode.IsSpace)
	if context == "" {
		return content
	}
	return content + "\n\n" + context
}

// Language is the language of a session, such as "de". It is the one that a person has set ("pt-BR" counts as "pt");
// else what the texts are written in; else "pt".
func Language(said string, texts []string) string {
	base, _, _ := strings.Cut(strings.ReplaceAll(strings.ToLower(strings.TrimSpace(said)), "_", "-"), "-")
	if n := len(base); n == 2 || n == 3 { // ISO 639
		return base
	}
	if found := language.Of(texts...); found != "" {
		return found
	}
	return "pt"
}

// clean is a text as a block holds it, before its lines are looked at.
func clean(text string) string {
	text = strings.TrimPrefix(strings.ToValidUTF8(text, "\ufffd"), "\ufeff")
	return strings.TrimRightFunc(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text), unicode.IsSpace)
}

// header is how one begins, in any of the languages, in whatever case, with or without accents.
var header = regexp.MustCompile(`^[\[［][\s\p{Z}\p{Cf}*_]*` +
	`(?i:trans(?:cri[cç]\p{Mn}*[aã]\p{Mn}*o|cript|kript)\b|or(?:[aá]\p{Mn}*culo|acle|akel)[\s\p{Z}\p{Cf}*_]*[:：])`)

const headerStart = 200 // bytes that suffice to recognise one

// escape puts a backslash before each line that reads as a header: spaces and marks of Markdown before it hide nothing,
// and what some programs show as a line break is one.
func escape(text string) string {
	if !strings.ContainsAny(text, "[［") {
		return text
	}
	var b strings.Builder
	begins := true // nothing but marks since the line began
	for i, r := range text {
		switch {
		case strings.ContainsRune("\n\r\v\f\u0085\u2028\u2029", r):
			begins = true
		case !begins || unicode.IsSpace(r) || unicode.Is(unicode.Cf, r) || strings.ContainsRune(">#*_~+-", r):
		case r != '[' && r != '［':
			begins = false
		case header.MatchString(text[i:min(len(text), i+headerStart)]):
			b.WriteByte('\\')
			begins = false
		}
		b.WriteRune(r)
	}
	return b.String()
}

// Body is a text as a block of a context holds it: nothing in it reads as a header.
func Body(text string) string { return escape(clean(text)) }

// headerName is a name that ends neither its line nor its brackets.
func headerName(name string) string {
	name = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Bidi_Control, r) {
			return -1
		}
		return r
	}, strings.NewReplacer("[", "(", "]", ")").Replace(strings.ToValidUTF8(name, "\ufffd")))
	return cmp.Or(text.Brief(name, maxName), "?")
}
