package code

import (
	"context"
	"fmt"
	"iter"
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
	candidates  = 40 // files whose units are ranked
	maxQuestion = 4 << 10
)

// SearchArgs are the arguments of code_search.
type SearchArgs struct {
	Query string `json:"query" doc:"words or identifiers, or an RE2 expression"`
	Path  string `json:"path,omitempty" doc:"folder, file or glob"`
	Regex bool   `json:"regex,omitempty"`
	Limit int    `json:"limit,omitempty" min:"1" max:"50" default:"10"`
}

// SearchData is the structured result of code_search: the best places first.
type SearchData struct {
	Hits    []Hit    `json:"hits"`
	Missing []string `json:"missing,omitempty"` // words of the question that are in no file
	Files   int      `json:"files"`             // files searched
	Matched int      `json:"matched"`           // files in which something was found
}

// Hit is a place worth opening: the best line of a definition, and the lines of the whole definition. A definition of
// up to 40 lines should be shown whole, a longer one by the line of its name, Head, and the lines From to To. Small
// neighbours may be shown with a definition; it then begins at Own.
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
		Description: "Searches the source files and ranks the places where most words meet, definitions first. Parts and " +
			"other endings of words are found too. Open a hit with code_read.",
		Search: true,
	}, r.search)
}

func (r *Root) search(ctx context.Context, _ tool.Call, args SearchArgs) (tool.Result, error) {
	s, err := r.newLookup(args)
	if err != nil {
		return tool.Result{}, err
	}
	if err := s.countTerms(ctx); err != nil {
		return tool.Result{}, err
	}
	passages, err := s.rankPassages(ctx, s.bestFiles())
	if err != nil {
		return tool.Result{}, err
	}
	return s.result(passages)
}

// lookup is the state of one code_search.
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
	skipped skipped
	weights search.Weights // of the terms; nil until they are weighed
	top     float64        // the best file's score
	missing []string
	called  map[*fileKind][]float64 // how well each term fits what people call a kind of file
}

func (r *Root) newLookup(args SearchArgs) (*lookup, error) {
	s := &lookup{root: r, limit: args.Limit, regex: args.Regex}
	var err error
	if s.scope, err = newScope(args.Path); err != nil {
		return nil, err
	}
	if n := len(args.Query); n > maxQuestion {
		return nil, tool.Errorf(tool.InvalidArgs, "name what matters in a sentence",
			"query has %d bytes, more than %d", n, maxQuestion)
	}
	if args.Regex {
		s.query.terms = []term{{word: printable(args.Query, maxShort), weight: 1}}
		s.finder, err = newLineFinder(args.Query)
		return s, err
	}
	s.query = parseQuery(args.Query)
	if len(s.query.terms) == 0 {
		return nil, tool.Errorf(tool.InvalidArgs, "give a question or identifiers", "there is no word to look for")
	}
	s.finder = newScanner(s.query.terms)
	s.called = s.calledAs()
	return s, nil
}

// scope is the part of the root to search.
type scope struct {
	start        string               // where the walk begins
	glob         func(at string) bool // nil for all below
	matchesNames bool                 // the glob has no slash: it is one for names
}

func newScope(at string) (sc scope, err error) {
	clean, err := cleanPath(at)
	if err != nil || !strings.ContainsAny(at, "*?[") {
		return scope{start: clean}, err
	}
	fixed := clean[:strings.IndexAny(clean, "*?[")]
	byName := !strings.Contains(clean, "/")
	return scope{start: path.Dir(fixed + "x"), glob: globOf(clean, false), matchesNames: byName}, nil
}

// contains says whether a path is in the scope.
func (sc scope) contains(at string) bool {
	if sc.matchesNames {
		at = path.Base(at)
	}
	return sc.glob == nil || sc.glob(at)
}

// tally counts each term in a file, in tenths of a full match.
type tally struct {
	path   string
	size   int
	terms  []int32
	kind   *fileKind // if the question may ask for it
	called []float64 // how well each term fits what people call its kind; nil if none does
	fit    float64   // how much of the question asks for its kind
	score  float64

	best  pieceSpot // of a file of several pieces: the one that is ranked, with most terms
	found int       // terms in it
}

func (s *lookup) newTally(at string) tally {
	f := tally{path: at}
	if s.regex {
		return f
	}
	k := fileKindOf(at)
	if f.called = s.called[k]; f.called != nil { // it is found even if no term is in it
		f.terms = make([]int32, len(s.query.terms))
	}
	if f.called != nil || k != nil && k.manifest && s.query.versionTerm() >= 0 {
		f.kind = k
	}
	return f
}

// count counts the terms in a piece of the file.
func (f *tally) count(p piece, s *lookup) {
	text := p.text
	if s.regex { // or a secret could be guessed, character by character
		text = p.withoutSecrets()
	}
	f.size += len(text)
	counts := make([]int32, len(s.query.terms))
	found, sum := 0, int32(0)
	s.find(f.kind, text, func(m match) {
		if counts[m.term] == 0 {
			found++
		}
		counts[m.term] += int32(m.strength)
		sum++
	})
	if sum == 0 {
		return
	}
	if f.terms == nil {
		f.terms = make([]int32, len(s.query.terms))
	}
	for i, n := range counts {
		f.terms[i] += n
	}
	if found > f.found {
		f.found, f.best = found, p.pieceSpot
	}
}

// countTerms counts the terms in all files.
func (s *lookup) countTerms(ctx context.Context) (err error) {
	var mu sync.Mutex
	s.skipped, err = s.root.walk(ctx, s.scope, func(at string, pieces iter.Seq[piece]) {
		of := s.newTally(at)
		for p := range pieces {
			of.count(p, s)
		}
		mu.Lock()
		defer mu.Unlock()
		s.files++
		s.bytes += int64(of.size)
		if of.terms != nil {
			s.tallies = append(s.tallies, of)
		}
	})
	slices.SortFunc(s.tallies, func(a, b tally) int { return strings.Compare(a.path, b.path) })
	return err
}

// rankPassages reads the best files again, and ranks the passages in them.
func (s *lookup) rankPassages(ctx context.Context, files []tally) ([]passage, error) {
	perFile, counts := make([][]unit, len(files)), make([]int, len(files))
	var readers errgroup.Group
	readers.SetLimit(workers())
	for i := range files {
		readers.Go(func() error {
			if src, err := s.root.pieceOf(files[i].path, files[i].best); err == nil { // else it was removed since it was counted
				perFile[i], counts[i] = s.findUnits(&files[i], src)
			}
			return ctx.Err()
		})
	}
	if err := readers.Wait(); err != nil {
		return nil, err
	}
	total := 0
	for _, n := range counts {
		total += n
	}
	return s.rank(slices.Concat(perFile...), total), nil
}

func (s *lookup) result(passages []passage) (tool.Result, error) {
	data := SearchData{Hits: []Hit{}, Files: s.files, Matched: len(s.tallies), Missing: s.missing}
	perFile := map[string]int{}
	omitted := 0
	for _, p := range passages {
		at := p.unit.src.path
		if len(data.Hits) == s.limit || perFile[at] == hitsPerFile && s.scope.start != at {
			omitted++
			continue
		}
		perFile[at]++
		data.Hits = append(data.Hits, p.hitFor(passages[0].score))
	}
	res := tool.Result{Items: len(data.Hits), Truncated: omitted > 0 || s.query.hasMore}
	var text resultText
	for _, h := range data.Hits {
		res.Refs = append(res.Refs, tool.Ref{Source: tool.Code, Path: h.Path, Title: h.Symbol, Start: h.Line,
			End: h.Line})
		within := ""
		if h.Symbol != "" {
			within = "  in " + h.Kind + " " + h.Symbol
		}
		text.addLine("%s:%d%s, lines %d-%d\n    %s", h.Path, h.Line, within, h.Start, h.End, h.Text)
	}
	if len(data.Hits) == 0 {
		var words []string
		for _, t := range s.query.terms {
			if !t.isGuessed {
				words = append(words, t.word)
			}
		}
		text.addLine("Nothing found for: %s.", strings.Join(words, ", "))
	}
	searched := fmt.Sprintf("%s of %s searched with a match", tool.Count(data.Matched, "file"),
		tool.Count(data.Files, "file"))
	if omitted > 0 {
		searched += "; weaker places left out"
	}
	if len(data.Missing) > 0 && len(data.Hits) > 0 {
		searched += "; found nowhere: " + strings.Join(data.Missing, ", ")
	}
	text.addLine("%s.", searched)
	res.Text, res.Truncated = text.String(), res.Truncated || text.full
	s.skipped.report(&res)
	return res.WithData(data)
}

// hitFor returns the Hit for a passage, with a score relative to the best one.
func (p *passage) hitFor(best float64) Hit {
	u := &p.unit
	column := 0
	if i := slices.IndexFunc(u.spots, func(m spot) bool { return m.line == p.line }); i >= 0 {
		column = u.spots[i].column
	}
	before := u.src.before
	h := Hit{Path: u.src.path, Line: p.line, Text: excerpt(u.src.line(p.line), column), Start: p.start, End: p.end}
	h.From, h.To = p.linesToShow()
	h.Score = math.Round(1000*p.score/best) / 1000
	if u.start != p.start {
		h.Own = u.start
	}
	if u.def != nil {
		h.Symbol, h.Kind, h.Head = u.def.symbol(), u.def.kind, u.def.line
	}
	for _, line := range []*int{&h.Line, &h.Start, &h.End, &h.From, &h.To, &h.Own, &h.Head} {
		if *line > 0 {
			*line += before
		}
	}
	return h
}
