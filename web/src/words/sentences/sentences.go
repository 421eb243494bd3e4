// Package sentences words the coded sentences of runs in other languages than English, for the page and the terminal
// alike.
package sentences

import (
	"embed"
	"encoding/json"
	"regexp"
	"sync"

	"sibyl/internal/bt"
)

//go:embed de.json pt.json
var files embed.FS

// Languages are those that have a catalogue besides English.
func Languages() []string { return []string{"de", "pt"} }

var catalogues = sync.OnceValue(func() map[string]map[string]string {
	all := map[string]map[string]string{}
	for _, language := range Languages() {
		text, err := files.ReadFile(language + ".json")
		words := map[string]string{}
		if err == nil {
			err = json.Unmarshal(text, &words)
		}
		if err != nil {
			panic(err) // the files are a part of the program, and a test reads each
		}
		all[language] = words
	}
	return all
})

var placeholder = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\{(\w+)\}`) })

// Say words a sentence in a language, and the sentences in it. What has no words there stays English.
func Say(w bt.Why, language string) string {
	template := catalogues()[language][w.Code]
	if w.Code == "" || template == "" {
		return w.Text
	}
	return placeholder().ReplaceAllStringFunc(template, func(name string) string {
		value, known := w.Values[name[1:len(name)-1]]
		if !known {
			return name
		}
		return Say(value, language)
	})
}
