package code

import (
	"context"
	"fmt"
	"math"
	"path"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"sibyl/internal/text/search"
	"sibyl/internal/tool"
)

const (
	hitsPerFile = 3  // so that one file can't hide the others
	candidates  = 40 // files that are looked at closely
	maxQuestion = 4 << 10
)

// SearchArgs are the arguments of code_search.
type SearchArgs struct {
	Query string   `json:"query,omitempty" doc:"the question in plain words, or identifiers; with regex, one RE2 expression"`
	Terms []string `json:"terms,omitempty" doc:"further words or identifiers to look for at the same time"`
	Path  string   `json:"path,omitempty" doc:"only below this folder, only this file, or only paths that match this glob: src/**/*.go"`
	Lang  string   `json:"lang,omitempty" doc:"only this language or file ending, such as go, python or .proto"`
	Regex bool     `json:"regex,omitempty" doc:"the query is a regular expression, matched line by line"`
	Limit int      `json:"limit,omitempty" doc:"most hits wanted" min:"1" max:"50" default:"10"`
}

// SearchData is the structured result of code_search: the best places first.
type SearchData struct {
	Hits    []Hit    `json:"hits"`
	Missing []string `json:"missing,omitempty"` // words of the question that are nowhere
	Files   int      `json:"files"`             // files searched
	Matched int      `json:"matched"`           // files in which something was found
	Skipped Skipped  `json:"skipped"`
}

// Hit is a place worth opening: the best line of a definition, and the lines of the whole definition. Of one of up to 40 lines all are worth being shown,
// of a longer one the line of its name, Head, and the lines From to To. Small neighbours that fit too are shown with a definition; it then begins at Own.
type Hit struct {
	Path   string  `json:"path"`
	Line   int     `json:"line"`
	Text   string  `json:"text"`
	Start  int     `json:"start"`
	End    int     `json:"end"`
	Own    int     `json:"own,omitempty"`
	Head   int     `json:"head,omitempty"`
	From   int     `json:"from"`
	To     int     `json:"to"`
	Symbol string  `json:"symbol,omitempty"` // Type.Method, or what the language calls it
	Kind   string  `json:"kind,omitempty"`   // func, method, type, section, ...
	Score  float64 `json:"score"`            // 0 to 1, relative to the best hit
}

func (r *Root) searchTool() tool.Tool {
	return tool.New(tool.Spec{
		Source: tool.Code, Effect: tool.Repeatable,
		Name: "code_search",
		Description: "Searches the source files for several words at once and ranks the places where most of them meet, definitions " +
			"first. Ask in plain words or name identifiers: endings, abbreviations and parts of identifiers are found too " +
			"(\"idle connection\" finds closeIdleConn). Each hit names the lines of the whole definition; read them with " +
			"code_read before you rely on them.",
		Search: true,
	}, r.search)
}

func (r *Root) search(ctx context.Context, _ tool.Call, args SearchArgs) (tool.Result, error) {
	s, err := r.newLookup(args)
	if err != nil {
		return tool.Result{}, err
	}
	if err := s.scan(ctx); err != nil {
		return tool.Result{}, err
	}
	passages, err := s.closeLook(ctx, s.bestFiles())
	if err != nil {
		return tool.Result{}, err
	}
	return s.result(passages)
}

// lookup is one code_search under way.
type lookup struct {
	root   *Root
	query  queryWords
	finder finder
	scope  scope
	limit  int
	regex  bool

	tallies []tally // files with a match, by path
	files   int
	bytes   int64
	skipped Skipped
	weights search.Weights // of the terms, once it is known how rare they are
	top     float64        // the best file's score
	missing []string
}

func (r *Root) newLookup(args SearchArgs) (*lookup, error) {
	s := &lookup{root: r, limit: args.Limit, regex: args.Regex}
	var err error
	if s.scope, err = newScope(args.Path, args.Lang); err != nil {
		return nil, err
	}
	if n := len(args.Query) + len(strings.Join(args.Terms, " ")); n > maxQuestion {
		return nil, tool.Errorf(tool.InvalidArgs, "name what matters in a sentence", "query and terms have %d bytes, more than %d", n, maxQuestion)
	}
	if args.Regex {
		if len(args.Terms) > 0 || args.Query == "" {
			const hint = "join several expressions with |"
			return nil, tool.Errorf(tool.InvalidArgs, hint, "with regex, query is the one expression to look for")
		}
		s.query.terms = []term{{word: printable(args.Query, maxShort), weight: 1}}
		s.finder, err = newLineFinder(args.Query)
		return s, err
	}
	s.query = parseQuery(args.Query, args.Terms)
	if len(s.query.terms) == 0 {
		return nil, tool.Errorf(tool.InvalidArgs, "give a question in query, or words in terms", "there is no word to look for")
	}
	s.finder = newScanner(s.query.terms)
	return s, nil
}

// scope is the part of the root that a search is about.
type scope struct {
	start string // where the walk begins
	glob  string
	lang  *language
	end   string // a file ending that belongs to no language we know
}

func newScope(at, lang string) (scope, error) {
	sc := scope{start: "."}
	var err error
	if strings.ContainsAny(at, "*?[") {
		if sc.glob, err = cleanPath(at); err != nil {
			return sc, err
		}
		fixed := sc.glob[:strings.IndexAny(sc.glob, "*?[")]
		if i := strings.LastIndexByte(fixed, '/'); i > 0 {
			sc.start = fixed[:i]
		}
		sc.glob = pathClasses(sc.glob)
	} else if sc.start, err = cleanPath(at); err != nil {
		return sc, err
	}
	if lang != "" {
		if sc.lang = languageNamed(lang); sc.lang == nil {
			sc.end = "." + strings.TrimPrefix(lang, ".")
		}
	}
	return sc, nil
}

func (sc *scope) holds(at string) bool {
	switch {
	case sc.glob == "":
	case !strings.Contains(sc.glob, "/"):
		if !matchGlob(sc.glob, path.Base(at)) {
			return false
		}
	case !matchGlob(sc.glob, at):
		return false
	}
	return (sc.lang == nil || languageOf(at, nil) == sc.lang) && strings.HasSuffix(at, sc.end)
}

// tally is what the first look at a file gives: how often each term is in it, in tenths of a full match.
type tally struct {
	path   string
	size   int
	terms  []int32
	inPath []float64 // how well each term matches the path
	score  float64
}

// scan counts the terms in all files.
func (s *lookup) scan(ctx context.Context) (err error) {
	var mu sync.Mutex
	s.skipped, err = s.root.walk(ctx, s.scope.start, func(f *found) {
		if !s.scope.holds(f.path) {
			return
		}
		content, ok := f.read()
		if !ok {
			return
		}
		if s.regex { // or one could be guessed, character by character
			content = withoutSecrets(content)
		}
		var counts []int32
		s.finder.find(content, func(m match) {
			if counts == nil {
				counts = make([]int32, len(s.query.terms))
			}
			counts[m.term] += int32(m.strength)
		})
		mu.Lock()
		defer mu.Unlock()
		s.files++
		s.bytes += int64(len(content))
		if counts != nil {
			s.tallies = append(s.tallies, tally{path: f.path, size: len(content), terms: counts})
		}
	})
	slices.SortFunc(s.tallies, func(a, b tally) int { return strings.Compare(a.path, b.path) })
	return err
}

// closeLook reads the best files again and ranks the definitions in them.
func (s *lookup) closeLook(ctx context.Context, files []tally) ([]passage, error) {
	perFile, counts := make([][]unit, len(files)), make([]int, len(files))
	var crew errgroup.Group
	crew.SetLimit(workers())
	for i := range files {
		crew.Go(func() error {
			if src, _, err := s.root.source(files[i].path); err == nil { // else it went away since it was counted
				perFile[i], counts[i] = s.units(&files[i], src)
			}
			return ctx.Err()
		})
	}
	if err := crew.Wait(); err != nil {
		return nil, err
	}
	total := 0
	for _, n := range counts {
		total += n
	}
	return s.rank(slices.Concat(perFile...), total), nil
}

func (s *lookup) result(passages []passage) (tool.Result, error) {
	data := SearchData{Hits: []Hit{}, Files: s.files, Matched: len(s.tallies), Skipped: s.skipped, Missing: s.missing}
	perFile := map[string]int{}
	left := 0
	for _, p := range passages {
		at := p.unit.src.path
		if len(data.Hits) == s.limit || perFile[at] == hitsPerFile && s.scope.start != at {
			left++
			continue
		}
		perFile[at]++
		data.Hits = append(data.Hits, p.hit(passages[0].score))
	}
	res := tool.Result{Items: len(data.Hits), Truncated: left > 0 || s.query.more}
	var b strings.Builder
	for _, h := range data.Hits {
		res.Refs = append(res.Refs, tool.Ref{Source: tool.Code, Path: h.Path, Title: h.Symbol, Start: h.Line, End: h.Line})
		within := ""
		if h.Symbol != "" {
			within = "  in " + h.Kind + " " + h.Symbol
		}
		fmt.Fprintf(&b, "%s:%d%s, lines %d-%d\n    %s\n", h.Path, h.Line, within, h.Start, h.End, h.Text)
	}
	if len(data.Hits) == 0 {
		var words []string
		for _, t := range s.query.terms {
			words = append(words, t.word)
		}
		fmt.Fprintf(&b, "Nothing found for: %s.\n", strings.Join(words, ", "))
	}
	fmt.Fprintf(&b, "%s of %s searched with a match", tool.Count(data.Matched, "file"), tool.Count(data.Files, "file"))
	if left > 0 {
		b.WriteString("; weaker places left out")
	}
	if len(data.Missing) > 0 && len(data.Hits) > 0 {
		fmt.Fprintf(&b, "; found nowhere: %s", strings.Join(data.Missing, ", "))
	}
	res.Text = b.String() + ".\n"
	s.skipped.tell(&res)
	return res.WithData(data)
}

// hit is a passage as it is told, scored relative to the best.
func (p *passage) hit(best float64) Hit {
	u := &p.unit
	column := 0
	if i := slices.IndexFunc(u.spots, func(m spot) bool { return m.line == p.line }); i >= 0 {
		column = u.spots[i].column
	}
	h := Hit{Path: u.src.path, Line: p.line, Text: excerpt(u.src.line(p.line), column), Start: p.start, End: p.end}
	h.From, h.To = p.best()
	h.Score = math.Round(1000*p.score/best) / 1000
	if u.start != p.start {
		h.Own = u.start
	}
	if u.def != nil {
		h.Symbol, h.Kind, h.Head = u.def.symbol(), u.def.kind, u.def.line
	}
	return h
}
