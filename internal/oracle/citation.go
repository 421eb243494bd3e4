package oracle

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"sibyl/internal/tool"
)

// Citations have the form path:line, path:from-to, or a URL.
var (
	pathCite = regexp.MustCompile(`[\pL\pN_@+~.-]*[\pL\pN_/][\pL\pN_@+~./-]*` + lineCite)
	urlCite  = regexp.MustCompile(`https?://[^\s<>\[\]"'` + "`" + `]+`)
)

const lineCite = `:[0-9]+(?:[-–][0-9]+)?`

// cite marks the sources that the answer cites, and notes citations of what was never read. What stands in a fence is
// quoted, not cited.
func (a *Answer) cite() {
	rest := unfenced(a.Answer)
	overWeb := slices.ContainsFunc(a.Tried, func(t Tried) bool { return t.Source == tool.Web })
	for _, u := range urlCite.FindAllString(rest, -1) {
		if u = trimURL(u); !a.markURL(u) && overWeb {
			a.unsupported(u)
		}
	}
	rest = a.citeOddNames(urlCite.ReplaceAllString(rest, " "))
	for _, c := range pathCite.FindAllString(rest, -1) {
		a.citePath(c)
	}
}

func (a *Answer) citePath(c string) {
	name, from, to, ok := splitCite(c)
	if ok && (isPath(name) || a.markPath(name, from, to)) && !a.markPath(name, from, to) {
		a.unsupported(c)
	}
}

func (a *Answer) unsupported(c string) {
	if !slices.Contains(a.Unsupported, c) {
		a.Unsupported = append(a.Unsupported, c)
	}
}
