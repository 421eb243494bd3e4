package scribe

import (
	_ "embed"
	"strings"
)

//go:embed languages.txt
var languages string

// code is the code of a language that a transcriber names: "pt" for "portuguese", "pt" and "pt-BR"; what is no known
// name stays as it is.
func code(said string) string {
	said = strings.ToLower(strings.TrimSpace(said))
	for line := range strings.Lines(languages) {
		short, names, _ := strings.Cut(strings.TrimSpace(line), " ")
		for name := range strings.SplitSeq(names, ",") {
			if said != "" && name == said {
				return short
			}
		}
	}
	return base(said)
}
