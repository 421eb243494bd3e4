// Package sentences words the coded sentences of runs in other languages than English, for the page and the terminal
// alike.
package sentences

import (
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"sibyl/internal/bt"
	"sibyl/internal/text"
)

//go:embed de.json pt.json terminal.json
var files embed.FS

// Languages are those that have a catalogue besides English.
func Languages() []string { return []string{"de", "pt"} }

var catalogues = sync.OnceValue(func() map[string]map[string]string {
	all := map[string]map[string]string{}
	for _, language := range Languages() {
		content, err := files.ReadFile(language + ".json")
		words := map[string]string{}
		if err == nil {
			err = json.Unmarshal(content, &words)
		}
		if err != nil {
			panic(err) // the files are a part of the program, and a test reads each
		}
		all[language] = words
	}
	return all
})

var placeholder = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\{(\w+)\}`) })

// terminal has the words of the terminal, by language and in English.
var terminal = sync.OnceValue(func() (all map[string]map[string]string) {
	content, err := files.ReadFile("terminal.json")
	if err == nil {
		err = json.Unmarshal(content, &all)
	}
	if err != nil {
		panic(err) // as above
	}
	return all
})

// Format fills in a format of the terminal's status and hints, given in English, in a language that has it.
func Format(language, format string, values ...any) string {
	return fmt.Sprintf(cmp.Or(terminal()[language][format], format), values...)
}

// Say words a sentence in a language, and the sentences in it. What has no words there stays English.
func Say(w bt.Why, language string) string {
	template := catalogues()[language][w.Code]
	if w.Code == "" || template == "" {
		return w.Text
	}
	return placeholder().ReplaceAllStringFunc(template, func(name string) string {
		if value, known := w.Values[name[1:len(name)-1]]; known {
			return Say(value, language)
		}
		return name
	})
}

// SayFirst is Say for the beginning of a line: the first letter is a capital, unless the line begins with a name such
// as that of a file or a model.
func SayFirst(w bt.Why, language string) string {
	said := Say(w, language)
	first, _, _ := strings.Cut(said, " ")
	if strings.ContainsAny(strings.TrimRight(first, ".:,;"), "./\\:_0123456789") {
		return said
	}
	return text.Capitalize(said)
}
