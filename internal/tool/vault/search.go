package vault

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"sibyl/internal/files"
	"sibyl/internal/text/search"
	"sibyl/internal/tool"
)

const (
	perNote    = 3   // sections of one note, so that a long note leaves room for others
	maxSnippet = 240 // runes
)

// SearchData is the Data of vault_search.
type SearchData struct {
	Hits    []Hit    `json:"hits"`
	Total   int      `json:"total"`             // hits there are, of at most three sections a note
	Skipped []string `json:"skipped,omitempty"` // what could not be searched, and why
}

// Hit is a section of a note, or an entry of a thread, that answers a search. Nobody read it yet.
type Hit struct {
	Path    string   `json:"path"`
	Title   string   `json:"title"`
	Heading string   `json:"heading,omitempty"` // "" above the first heading
	Start   int      `json:"start"`             // lines of the section, from 1, inclusive; 0 in an empty note
	End     int      `json:"end"`
	Snippet string   `json:"snippet"`
	Score   float64  `json:"score"` // comparable within one search only
	Tags    []string `json:"tags,omitempty"`
	Date    string   `json:"date,omitempty"`  // as the front matter has it; an entry's own time
	Entry   string   `json:"entry,omitempty"` // the id of a thread entry
}

type searchArgs struct {
	Query  string `json:"query" doc:"words to look for; rare words count more, titles, headings and tags most"`
	Limit  int    `json:"limit,omitempty" doc:"hits to return" min:"1" max:"50" default:"10"`
	Folder string `json:"folder,omitempty" doc:"search only below this folder"`
	Tag    string `json:"tag,omitempty" doc:"search only notes with this tag or one below it"`
}

func (v *Vault) searchTool() tool.Tool {
	return reader(v, tool.Spec{
		Name: "vault_search",
		Description: "Searches the person's notes and threads for words and returns the best sections: path, lines and a snippet. " +
			"Use it first for what the person decided, wrote down or planned. A hit is not read yet: open it with vault_read before you cite it.",
		Search: true,
	}, v.search)
}

func (v *Vault) search(ctx context.Context, s *snapshot, args searchArgs) (tool.Result, error) {
	q, err := queryOf(args.Query)
	if err != nil {
		return tool.Result{}, err
	}
	folder, err := s.folder(args.Folder, "vault_list shows the folders")
	if err != nil {
		return tool.Result{}, err
	}
	ranked := s.rank(q, func(n *note) bool {
		return under(n.path, folder) && (args.Tag == "" || n.tagged(args.Tag))
	}, perNote)
	data := SearchData{Hits: []Hit{}, Total: len(ranked), Skipped: s.skippedList()}
	data.Hits, err = v.describe(ctx, q, ranked[:min(len(ranked), args.Limit)])
	if err != nil {
		return tool.Result{}, err
	}
	text, refs := hitText(data.Hits, data.Total, oneLine(args.Query, 100), len(s.notes))
	return answer(text+skippedText(data.Skipped), data, refs, len(data.Hits), len(data.Hits) < data.Total)
}

// queryOf refuses a query without a word.
func queryOf(text string) (search.Query, error) {
	q := search.NewQuestion(tool.Clip(text, 4096))
	if q.Empty() {
		return q, tool.Errorf(tool.InvalidArgs, "", "the query %q has no word in it", oneLine(text, 100))
	}
	return q, nil
}

// hit is a section that answers a query.
type hit struct {
	note    *note
	section int // -1: the note has no section at all
	score   float64
}

// at is the time of the entry that was found, else that of the note.
func (h hit) at() time.Time {
	if h.section >= 0 && !h.note.sections[h.section].at.IsZero() {
		return h.note.sections[h.section].at
	}
	return h.note.at
}

// rank returns the sections of the notes in scope that answer q, the best first: ties go to the later date, then to the path, then to the
// line. Of each note it gives at most most.
func (s *snapshot) rank(q search.Query, scope func(*note) bool, most int) []hit {
	var notes []*note
	var words []search.Entry
	for _, n := range s.notes {
		if scope(n) {
			notes, words = append(notes, n), append(words, n.words)
		}
	}
	hitOf := func(h search.Hit) hit { return hit{notes[h.Document], h.Section, h.Score} }
	var hits []hit
	for _, h := range s.words.Rank(q, words, most, func(a, b search.Hit) int {
		return cmp.Or(hitOf(b).at().Compare(hitOf(a).at()), cmp.Compare(a.Document, b.Document))
	}) {
		hits = append(hits, hitOf(h))
	}
	return hits
}

// describe reads the hits' snippets from their notes.
func (v *Vault) describe(ctx context.Context, q search.Query, ranked []hit) ([]Hit, error) {
	hits := make([]Hit, 0, len(ranked))
	lines := map[string][]string{}
	for _, r := range ranked {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		h := Hit{Path: r.note.path, Title: r.note.title, Score: r.score, Tags: r.note.tags[:min(len(r.note.tags), 20)], Date: r.note.date}
		if r.section >= 0 {
			s := r.note.sections[r.section]
			h.Heading, h.Start, h.End, h.Entry = oneLine(s.heading, 200), s.start, s.end, s.entry
			if s.entry != "" {
				h.Date = s.at.Format(time.RFC3339)
			}
			if _, read := lines[h.Path]; !read {
				lines[h.Path] = v.linesOf(h.Path)
			}
			h.Snippet = snippet(q, lines[h.Path], s)
		}
		hits = append(hits, h)
	}
	return hits, nil
}

// linesOf is a note's text; nothing if the note is gone since it was found, which leaves a hit without a snippet.
func (v *Vault) linesOf(p string) []string {
	content, err := files.Read(v.root, p, maxNote)
	if err != nil {
		return nil
	}
	return parse(p, content.Content, content.Cut).lines
}

// snippet is the line of a section that answers most terms, from shortly before the first of them.
func snippet(q search.Query, lines []string, s section) string {
	first, last := s.start, min(s.end, len(lines))
	if s.level > 0 && first < last {
		first++ // the heading is told apart
	}
	best, bestLine := -1, ""
	for n := first; n <= last; n++ {
		line := lines[n-1]
		if strings.TrimSpace(line) == "" {
			continue
		}
		if found := q.AnsweredBy(line); found > best {
			best, bestLine = found, line
		}
	}
	if runes := []rune(bestLine); len(runes) > maxSnippet {
		from := firstIn(q, runes)
		bestLine = string(runes[max(0, from-maxSnippet/4):])
		if from > maxSnippet/4 {
			bestLine = "…" + bestLine
		}
	}
	return oneLine(bestLine, maxSnippet)
}

// firstIn is the place of the first word in a long line that answers a term, to within some ten runes.
func firstIn(q search.Query, line []rune) int {
	const step, window = 10, 60
	for from := 0; from < len(line); from += step {
		if q.AnsweredBy(string(line[from:min(from+window, len(line))])) > 0 {
			return from + window/2
		}
	}
	return 0
}

func hitText(hits []Hit, total int, query string, notes int) (string, []tool.Ref) {
	if len(hits) == 0 {
		return fmt.Sprintf("Nothing found for %q in %s.\n", query, tool.Count(notes, "note")), nil
	}
	var b strings.Builder
	refs := make([]tool.Ref, 0, len(hits))
	fmt.Fprintf(&b, "%d of %s for %q. Not read yet: open with vault_read.\n", len(hits), tool.Count(total, "hit"), query)
	for i, h := range hits {
		ref := tool.Ref{Source: tool.Vault, Path: h.Path, Title: h.Title, Start: h.Start, End: h.End}
		refs = append(refs, ref)
		fmt.Fprintf(&b, "\n%d. %s  %s", i+1, ref, h.Title)
		if h.Heading != "" {
			fmt.Fprintf(&b, " > %s", h.Heading)
		}
		if h.Date != "" {
			fmt.Fprintf(&b, "  (%s)", h.Date)
		}
		b.WriteByte('\n')
		if h.Snippet != "" {
			fmt.Fprintf(&b, "   %s\n", h.Snippet)
		}
	}
	return b.String(), refs
}

// folder is the one that a folder argument names: "." for none. hint says what helps where there is no such folder.
func (s *snapshot) folder(name, hint string) (string, error) {
	name = strings.TrimSuffix(strings.TrimSpace(name), "/")
	if name == "" || name == "." {
		return ".", nil
	}
	if err := checkPath(name); err != nil {
		return "", err
	}
	if !slices.Contains(s.folders, name) {
		return "", tool.Errorf(tool.NotFound, hint, "there is no folder %q", name)
	}
	return name, nil
}

// skippedList is what could not be read, bounded for a result.
func (s *snapshot) skippedList() []string {
	const most = 10
	if len(s.skipped) <= most {
		return s.skipped
	}
	return append(s.skipped[:most:most], fmt.Sprintf("and %d more", len(s.skipped)-most))
}

func skippedText(skipped []string) string {
	if len(skipped) == 0 {
		return ""
	}
	return "\nNot looked at:\n- " + strings.Join(skipped, "\n- ") + "\n"
}
