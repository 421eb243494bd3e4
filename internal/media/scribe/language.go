package scribe

import (
	_ "embed"
	"strings"
)

//go:embed languages.txt
var languages string

// languageCode returns the code of a language that a transcriber names: "pt" for "portuguese", "pt" and "pt-BR". Other
// names stay, in lower case and without a region.
func languageCode(named string) string {
	named = strings.ToLower(strings.TrimSpace(named))
	for line := range strings.Lines(languages) {
		short, names, _ := strings.Cut(strings.TrimSpace(line), " ")
		for name := range strings.SplitSeq(names, ",") {
			if named != "" && name == named {
				return short
			}
		}
	}
	return baseLanguage(named)
}
