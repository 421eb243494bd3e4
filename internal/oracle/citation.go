package oracle

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"sibyl/internal/agent"
	"sibyl/internal/tool"
)

// Citations have the form path:line, path:from-to, “path p. page”, “path pp. from-to”, git:hash, or a URL.
const (
	citedSpan = `([0-9]+)(?:[-–]([0-9]+))?`
	lineCite  = `:` + citedSpan
	pageCite  = "`?,? pp?\\. ?" + citedSpan
	pathName  = `[\pL\pN_@+~.-]*[\pL\pN_/][\pL\pN_@+~./-]*`
)

var (
	// pathCite finds a path with its lines or, of a PDF or DOCX, with its pages.
	pathCite = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(` + pathName + `)` + lineCite + `|(` + pathName + `\.(?i:pdf|docx))` + pageCite)
	})
	commitCite = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\bgit:([0-9a-f]{7,40})\b`) })
	urlCite    = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`https?://[^\s<>\[\]"'` + "`" + `]+`)
	})
)

// citation is a place in an answer that names a source.
type citation struct {
	text      string                     // as it stands in the answer
	matches   func(s *agent.Source) bool // it cites this source
	mustMatch bool                       // it is reported as unsupported if no source matches
	name      string                     // of a path; "": it is an address or a commit
	from      int                        // lines or pages of a path
	to        int
}

// checkCitations marks the sources that the answer cites, and lists citations of what was never read: neither opened
// nor shown by a search. What a search showed is a source once it is cited. places are the places that each call
// opened or named.
func (a *Answer) checkCitations(places [][]tool.Ref) {
	for _, c := range a.citations() {
		if a.markCited(c.matches) {
			continue
		}
		if hit := c.hitIn(places); hit != nil {
			a.Sources = append(a.Sources, agent.Source{Ref: *hit, Cite: hit.String(), Cited: true})
		} else if c.mustMatch && !slices.Contains(a.Unsupported, c.text) {
			a.Unsupported = append(a.Unsupported, c.text)
		}
	}
}

// hitIn returns the first place that a search showed, and that is cited; nil if there is none. Of a file, it must have
// shown the lines.
func (c citation) hitIn(places [][]tool.Ref) *tool.Ref {
	for _, of := range places {
		for i := range of {
			if (of[i].URL != "" || of[i].Start > 0) && c.matches(&agent.Source{Ref: of[i]}) {
				return &of[i]
			}
		}
	}
	return nil
}

// citations finds all citations in the answer. Text in a fence is quoted, not cited. A URL must lead to a source only
// if the run looked at the web.
func (a *Answer) citations() (all []citation) {
	rest := WithoutFences(a.Answer)
	overWeb := slices.ContainsFunc(a.Tried, func(t agent.SourceCalls) bool { return t.Source == tool.Web })
	if strings.Contains(rest, "://") {
		for _, u := range urlCite().FindAllString(rest, -1) {
			u = trimURL(u)
			all = append(all, citation{text: u, matches: urlMatcher(u),
				mustMatch: overWeb || a.QueryType == "research"})
		}
		rest = urlCite().ReplaceAllString(rest, " ")
	}
	if strings.Contains(rest, gitPlace) {
		for _, c := range commitCite().FindAllString(rest, -1) {
			all = append(all, citation{text: c, matches: commitMatcher(c), mustMatch: true})
		}
		rest = commitCite().ReplaceAllString(rest, " ")
	}
	for i := range a.Sources {
		// a picture, which has no lines
		if s := &a.Sources[i]; s.Source == Handed && s.Start == 0 && strings.Contains(rest, s.Path) {
			all = append(all, citation{text: s.Path, name: s.Path, matches: func(o *agent.Source) bool {
				return o.Source == Handed && o.Path == s.Path
			}})
			rest = strings.ReplaceAll(rest, s.Path, " ")
		}
	}
	if !mayCitePath(rest) {
		return all
	}
	odd, rest := a.cutOddNames(rest)
	all = append(all, odd...)
	for _, found := range pathCite().FindAllStringSubmatch(rest, -1) {
		if found[1] != "" {
			all = append(all, pathCitation(found[0], found[1], found[2], found[3])...)
		} else {
			all = append(all, pathCitation(found[0], found[4], found[5], found[6])...)
		}
	}
	return all
}

type citedPlace struct {
	tool.Ref                // as its citations name it
	citations []citation    // all of it
	source    *agent.Source // that was read; nil: none was
}

// citedPlaces lists the places that the answer cites, each once, in the order of their first citation. The number of a
// place is its position in the list, from 1.
func (a *Answer) citedPlaces() (all []citedPlace) {
	if a.Summarised {
		return nil
	}
	citations := a.citations()
	slices.SortStableFunc(citations, func(x, y citation) int {
		return cmp.Compare(strings.Index(a.Answer, x.text), strings.Index(a.Answer, y.text))
	})
	for n, c := range citations {
		if slices.ContainsFunc(citations[:n], func(before citation) bool { return before.text == c.text }) {
			continue
		}
		one := citedPlace{Ref: tool.Ref{Path: c.text}, citations: []citation{c}}
		if at := slices.IndexFunc(a.Sources, func(s agent.Source) bool { return c.matches(&s) }); at >= 0 {
			one.source = &a.Sources[at]
			one.Ref = one.source.Ref
			if c.name != "" {
				one.Start, one.End = c.from, c.to
			}
		} else if !slices.Contains(a.Unsupported, c.text) {
			continue
		}
		if at := slices.IndexFunc(all, func(o citedPlace) bool { return o.String() == one.String() }); at >= 0 {
			all[at].citations = append(all[at].citations, c)
			continue
		}
		all = append(all, one)
	}
	return all
}

// mayCitePath says whether a digit follows a colon, or pages may be named: every citation of a path has one of these.
func mayCitePath(text string) bool {
	if strings.Contains(text, " p. ") || strings.Contains(text, " pp. ") {
		return true
	}
	for {
		_, after, found := strings.Cut(text, ":")
		if !found {
			return false
		}
		if after != "" && '0' <= after[0] && after[0] <= '9' {
			return true
		}
		text = after
	}
}

// cutOddNames finds citations of sources whose names have blanks or other characters that pathCite does not match. It
// returns them, and the text without them.
func (a *Answer) cutOddNames(text string) (all []citation, rest string) {
	var odd []string
	for _, s := range a.Sources {
		plain := tool.Ref{Path: s.Path, Start: 1, Paged: s.Paged}.String()
		if s.Path != "" && pathCite().FindString(plain) != plain && !slices.Contains(odd, s.Path) {
			odd = append(odd, s.Path)
		}
	}
	sort.Slice(odd, func(i, j int) bool { return len(odd[i]) > len(odd[j]) }) // a name may end with another
	for _, name := range odd {
		pattern := regexp.MustCompile(regexp.QuoteMeta(name) + `(?:` + lineCite + `|` + pageCite + `)`)
		for _, found := range pattern.FindAllStringSubmatch(text, -1) {
			all = append(all, pathCitation(found[0], name, found[1]+found[3], found[2]+found[4])...)
		}
		text = pattern.ReplaceAllString(text, " ")
	}
	return all, text
}

// pathCitation is a citation of a path with lines or pages; none if these are not numbers.
func pathCitation(text, name, from, to string) []citation {
	c := citation{text: text, name: strings.TrimPrefix(name, "./")}
	var err error
	if c.from, err = strconv.Atoi(from); err != nil {
		return nil
	}
	if c.to = c.from; to != "" {
		if c.to, err = strconv.Atoi(to); err != nil {
			return nil
		}
	}
	c.matches, c.mustMatch = c.matchesPath, isPath(c.name)
	return []citation{c}
}

// WithoutFences removes the fenced blocks, whose text is quoted, from a text in Markdown.
func WithoutFences(text string) string {
	var b strings.Builder
	open := "" // the marks of the fence
	for line := range strings.Lines(text) {
		marks, alone := fenceMarks(line)
		switch {
		case open == "" && marks != "":
			open = marks
		case open == "":
			b.WriteString(line)
		case alone && strings.HasPrefix(marks, open):
			open = ""
		}
	}
	return b.String()
}

// fenceMarks returns the marks of a fence in a line, and whether it has nothing else; "" for any other line.
func fenceMarks(line string) (marks string, alone bool) {
	line = strings.Trim(line, " \t\r\n>")
	for _, mark := range []string{"`", "~"} {
		rest := strings.TrimLeft(line, mark)
		if n := len(line) - len(rest); n >= 3 {
			return line[:n], rest == ""
		}
	}
	return "", false
}

// isPath tells a path from "10:30", a ratio and an address with a port: it has a folder or an extension, with letters.
func isPath(name string) bool {
	ending := strings.TrimPrefix(path.Ext(name), ".")
	return strings.Contains(name, "/") && strings.ContainsFunc(name, unicode.IsLetter) ||
		ending != "" && unicode.IsLetter([]rune(ending)[0])
}

// markCited marks the sources for which cites is true, and says whether there are any.
func (a *Answer) markCited(cites func(s *agent.Source) bool) bool {
	found := false
	for i := range a.Sources {
		if s := &a.Sources[i]; cites(s) {
			s.Cited, found = true, true
		}
	}
	return found
}

// matchesPath says whether a source has a cited line or page. The path may be just its end ("transport.go:12").
func (c citation) matchesPath(s *agent.Source) bool {
	return s.Path != "" && (s.Path == c.name || strings.HasSuffix(s.Path, "/"+c.name)) &&
		(s.Start == 0 || c.from <= s.End && c.to >= s.Start)
}

// gitPlace is the prefix of the place of a commit, as the tool for the history of the code writes it.
const gitPlace = "git:"

// commitMatcher matches a commit by its hash, or by the digits of it that were written.
func commitMatcher(c string) func(s *agent.Source) bool {
	return func(s *agent.Source) bool {
		return strings.HasPrefix(s.Path, gitPlace) && (strings.HasPrefix(s.Path, c) || strings.HasPrefix(c, s.Path))
	}
}

// trimURL removes the punctuation of the sentence around a URL, and closing brackets without an opening one.
func trimURL(u string) string {
	for {
		cut := strings.TrimRight(u, ".,;:!?*_")
		if strings.Count(cut, ")") > strings.Count(cut, "(") {
			cut = strings.TrimSuffix(cut, ")")
		}
		if cut == u {
			return u
		}
		u = cut
	}
}

func urlMatcher(u string) func(s *agent.Source) bool {
	return func(s *agent.Source) bool { return s.URL != "" && pageURL(s.URL) == pageURL(u) }
}

// pageURL is a URL without its fragment and without a slash at the end, which make no difference to the page.
func pageURL(u string) string {
	u, _, _ = strings.Cut(u, "#")
	return strings.TrimSuffix(u, "/")
}
