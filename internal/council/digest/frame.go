package digest

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// lens is one of the numbered instructions of a persona.
type lens struct {
	text  string
	kind  kind
	known bool // its words say which kind of finding it takes
	stems []string
}

var numbered = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s{0,3}\d{1,3}[.)]\s+(\S.*)$`)
})

const (
	mostLenses = 12
	longLens   = 160 // runes of one
)

// lenses reads the numbered list of a persona's file.
func (l *language) lenses(content string) []lens {
	var list []lens
	for line := range strings.Lines(content) {
		m := numbered().FindStringSubmatch(strings.TrimRight(line, "\r\n \t"))
		if m == nil || len(list) == mostLenses {
			continue
		}
		list = append(list, l.lens(oneLine(plainText(m[1]))))
	}
	return list
}

// lens says what an instruction looks for. A persona may be written in another language than a session.
func (l *language) lens(text string) lens {
	out := lens{text: shortened(text, longLens)}
	list := tokens(text)
	out.stems = l.content(list)
	best := len(list)
	for _, each := range []*language{l, languages()["pt"], languages()["en"], languages()["de"]} {
		for _, k := range []kind{claim, open, decision, figure, central} {
			if at, n := each.words["lens "+kindNames[k]].In(list); n > 0 && at < best {
				best, out.kind, out.known = at, k, true
			}
		}
	}
	return out
}

var kindNames = [kinds]string{"central", "open", "claim", "figure", "decision"}

var marks = sync.OnceValue(func() *strings.Replacer {
	return strings.NewReplacer("**", "", "__", "", "`", "", "*", "")
})

// plainText takes the marks of Markdown out of a line.
func plainText(line string) string { return strings.TrimSpace(marks().Replace(line)) }

func shortened(text string, most int) string {
	runes := []rune(text)
	if len(runes) <= most {
		return text
	}
	kept := string(runes[:most])
	if cut := strings.LastIndexByte(kept, ' '); cut > 0 {
		kept = kept[:cut]
	}
	return kept + ellipsis
}

// fitting picks what of the findings an instruction is best held against: those of its kind, the ones with its words first; of any kind those
// with its words.
func (t talk) fitting(l lens, shown [kinds][]finding) []finding {
	var fit []finding
	if l.known {
		fit = slices.Clone(shown[l.kind])
		slices.SortStableFunc(fit, func(a, b finding) int {
			return shares(l.stems, t.sentences[b.at].stems) - shares(l.stems, t.sentences[a.at].stems)
		})
	} else {
		for _, list := range shown {
			for _, f := range list {
				if shares(l.stems, t.sentences[f.at].stems) >= fewestMeant && !slices.ContainsFunc(fit, func(k finding) bool { return k.at == f.at }) {
					fit = append(fit, f)
				}
			}
		}
	}
	return fit[:min(len(fit), mostFitting)]
}

const mostFitting = 2
