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

// citation is what an answer names a source by.
type citation struct {
	text   string                     // as it stands in the answer
	leads  func(s *agent.Source) bool // to this source
	claims bool                       // it is one even if it leads nowhere
	name   string                     // of a path; "": it is an address or a commit
	from   int                        // lines or pages of a path
	to     int
}

// cite marks the sources that the answer cites, and notes citations of what was never read.
func (a *Answer) cite() {
	for _, c := range a.citations() {
		if !a.mark(c.leads) && c.claims && !slices.Contains(a.Unsupported, c.text) {
			a.Unsupported = append(a.Unsupported, c.text)
		}
	}
}

// citations are all in the answer. What stands in a fence is quoted, not cited; a URL is a citation where the run
// looked at the web.
func (a *Answer) citations() (all []citation) {
	rest := Unfenced(a.Answer)
	overWeb := slices.ContainsFunc(a.Tried, func(t agent.Tried) bool { return t.Source == tool.Web })
	if strings.Contains(rest, "://") {
		for _, u := range urlCite().FindAllString(rest, -1) {
			u = trimURL(u)
			all = append(all, citation{text: u, leads: leadsToURL(u), claims: overWeb || a.QueryType == "research"})
		}
		rest = urlCite().ReplaceAllString(rest, " ")
	}
	if strings.Contains(rest, gitPlace) {
		for _, c := range commitCite().FindAllString(rest, -1) {
			all = append(all, citation{text: c, leads: leadsToCommit(c), claims: true})
		}
		rest = commitCite().ReplaceAllString(rest, " ")
	}
	for i := range a.Sources {
		// a picture, which has no lines
		if s := &a.Sources[i]; s.Source == Handed && s.Start == 0 && strings.Contains(rest, s.Path) {
			all = append(all, citation{text: s.Path, name: s.Path, leads: func(o *agent.Source) bool {
				return o.Source == Handed && o.Path == s.Path
			}})
			rest = strings.ReplaceAll(rest, s.Path, " ")
		}
	}
	if !hasNumber(rest) {
		return all
	}
	odd, rest := a.citeOddNames(rest)
	all = append(all, odd...)
	for _, found := range pathCite().FindAllStringSubmatch(rest, -1) {
		if found[1] != "" {
			all = append(all, spanOf(found[0], found[1], found[2], found[3])...)
		} else {
			all = append(all, spanOf(found[0], found[4], found[5], found[6])...)
		}
	}
	return all
}

// citedPlace is a place that the answer cites.
type citedPlace struct {
	tool.Ref                // as its citations name it
	citations []citation    // all of it
	source    *agent.Source // that was read; nil: none was
}

// citedPlaces are what the answer cites, each place once and in the order in which it is cited first: its number is its
// place in the list, from 1.
func (a *Answer) citedPlaces() (all []citedPlace) {
	if a.Composed {
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
		if at := slices.IndexFunc(a.Sources, func(s agent.Source) bool { return c.leads(&s) }); at >= 0 {
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

// hasNumber says whether a digit follows a colon, or pages may be named, as in every citation of a path.
func hasNumber(text string) bool {
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

// citeOddNames takes out citations of sources whose names hold blanks or other marks that no pattern can tell from the
// words around them.
func (a *Answer) citeOddNames(text string) (all []citation, rest string) {
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
			all = append(all, spanOf(found[0], name, found[1]+found[3], found[2]+found[4])...)
		}
		text = pattern.ReplaceAllString(text, " ")
	}
	return all, text
}

// spanOf is the citation of a path with its lines or pages; none where these are no numbers.
func spanOf(text, name, from, to string) []citation {
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
	c.leads, c.claims = c.leadsToPath, isPath(c.name)
	return []citation{c}
}

// Unfenced leaves out the fenced blocks of a text in Markdown: what stands in them is quoted.
func Unfenced(text string) string {
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

// fenceMarks gives the marks of a line that opens or, if nothing else stands in it, closes a fence; "" of any other
// line.
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

// isPath tells a path from the hour of "10:30", a ratio and an address with its port: it has a folder or an ending, in
// letters.
func isPath(name string) bool {
	ending := strings.TrimPrefix(path.Ext(name), ".")
	return strings.Contains(name, "/") && strings.ContainsFunc(name, unicode.IsLetter) ||
		ending != "" && unicode.IsLetter([]rune(ending)[0])
}

// mark marks the sources that a citation leads to, and says whether there are any.
func (a *Answer) mark(cites func(s *agent.Source) bool) bool {
	found := false
	for i := range a.Sources {
		if s := &a.Sources[i]; cites(s) {
			s.Cited, found = true, true
		}
	}
	return found
}

// leadsToPath says that a source holds a cited line or page. A path may be cited by its end, as people do
// ("transport.go:12").
func (c citation) leadsToPath(s *agent.Source) bool {
	return s.Path != "" && (s.Path == c.name || strings.HasSuffix(s.Path, "/"+c.name)) &&
		(s.Start == 0 || c.from <= s.End && c.to >= s.Start)
}

// gitPlace begins the place of a commit, as the history of the code gives it.
const gitPlace = "git:"

// leadsToCommit finds a commit by its hash, or by as many digits of it as were written.
func leadsToCommit(c string) func(s *agent.Source) bool {
	return func(s *agent.Source) bool {
		return strings.HasPrefix(s.Path, gitPlace) && (strings.HasPrefix(s.Path, c) || strings.HasPrefix(c, s.Path))
	}
}

// trimURL takes off the punctuation of the sentence around a URL, and closing brackets that it does not open.
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

func leadsToURL(u string) func(s *agent.Source) bool {
	return func(s *agent.Source) bool { return s.URL != "" && page(s.URL) == page(u) }
}

// page is a URL without what makes no difference to the page: its fragment and a slash at the end.
func page(u string) string {
	u, _, _ = strings.Cut(u, "#")
	return strings.TrimSuffix(u, "/")
}
