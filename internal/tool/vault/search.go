package vault

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"sibyl/internal/text"
	"sibyl/internal/text/search"
	"sibyl/internal/tool"
)

const (
	perNote          = 3   // sections of one note, so that a long note leaves room for others
	maxSnippet       = 240 // runes
	maxListedFolders = 500 // folders
)

// SearchData is the Data of vault_search and thread_seek.
type SearchData struct {
	Hits []Hit `json:"hits"`
}

// Hit is a section of a note, or an entry of a thread, that answers a search. It is not read yet.
type Hit struct {
	Path    string `json:"path"`
	Title   string `json:"title"`
	Heading string `json:"heading,omitempty"` // "" above the first heading
	// lines of the section, from 1, inclusive, or its page; 0 in an empty note
	Start   int     `json:"start"`
	End     int     `json:"end"`
	Snippet string  `json:"snippet"`
	Score   float64 `json:"score"` // comparable within one search only
}

type searchArgs struct {
	Query  string `json:"query" doc:"words to look for; rare words count more, titles, headings and tags most"`
	Limit  int    `json:"limit,omitempty" doc:"hits to return" min:"1" max:"50" default:"10"`
	Folder string `json:"folder,omitempty" doc:"search only below this folder"`
	Tag    string `json:"tag,omitempty" doc:"search only notes with this tag or one below it"`
}

func (v *Vault) searchTool() tool.Tool {
	return newReadTool(v, tool.Spec{
		Name: "vault_search",
		Description: "Searches the person's notes, threads and documents (PDF, DOCX) for words and returns the best " +
			"sections: path, lines or page, and a snippet. " +
			"Use it first for what the person decided, wrote down or planned. A hit is not read yet: open it with " +
			"vault_read before you cite it.",
		Search: true,
	}, func(ctx context.Context, s *snapshot, args searchArgs) (tool.Result, error) {
		folder, err := s.resolveFolder(args.Folder, "vault_list shows the folders")
		if err != nil {
			return tool.Result{}, err
		}
		if s, err = v.withDocuments(ctx, s); err != nil {
			return tool.Result{}, err
		}
		res, err := v.searchNotes(ctx, s, args.Query, args.Limit, perNote, func(n *note, _ section) bool {
			return isUnder(n.path, folder) && (args.Tag == "" || n.hasTag(args.Tag))
		})
		res.Text += s.skippedText()
		return res, err
	})
}

type seekArgs struct {
	Query  string `json:"query" doc:"words to look for; rare words count more"`
	Thread string `json:"thread,omitempty" doc:"name of the one thread to search"`
	Limit  int    `json:"limit,omitempty" doc:"hits to return" min:"1" max:"50" default:"10"`
}

func (v *Vault) seekTool() tool.Tool {
	return newReadTool(v, tool.Spec{
		Name: "thread_seek",
		Description: "Searches the entries of all threads, or of one, for words. A hit is not read yet: open it with " +
			"thread_read before you cite it.",
		Search: true,
	}, func(ctx context.Context, s *snapshot, args seekArgs) (tool.Result, error) {
		var only *note
		if args.Thread != "" {
			n, err := s.threadNote(args.Thread)
			if err != nil {
				return tool.Result{}, err
			}
			only = n
		}
		return v.searchNotes(ctx, s, args.Query, args.Limit, maxParts, func(n *note, at section) bool {
			return at.entry > 0 && isThread(n.path) && (only == nil || n == only)
		})
	})
}

// hit is a section that a search found.
type hit struct {
	note    *note
	section section // zero: the note has no section at all
	score   float64
}

// date returns the time of the entry that was found, or else that of the note.
func (h hit) date() time.Time {
	if h.section.entry > 0 {
		return h.section.at
	}
	return h.note.at
}

// searchNotes lists the sections in scope that contain the words, the best first; ties are sorted by date (the latest
// first), path and line. It lists at most perNote sections of a note.
func (v *Vault) searchNotes(
	ctx context.Context, s *snapshot, words string, limit, perNote int, scope func(*note, section) bool,
) (tool.Result, error) {
	shownQuery := text.Brief(words, 100)
	q := search.NewQuestion(tool.Clip(words, 4096))
	if q.Empty() {
		return tool.Result{}, tool.Errorf(tool.InvalidArgs, "", "the query %q has no word in it", shownQuery)
	}
	ranked := s.rank(q, perNote, scope)
	if len(ranked) == 0 {
		none := fmt.Sprintf("Nothing found for %q in %s.\n", shownQuery, countText(s.notes))
		return newResult(none, SearchData{Hits: []Hit{}}, nil, false)
	}
	shown := ranked[:min(len(ranked), limit)]
	var b strings.Builder
	fmt.Fprintf(&b, "%d of %s for %q. Not read yet: open with vault_read or thread_read.\n",
		len(shown), tool.Count(len(ranked), "hit"), shownQuery)
	var data SearchData
	var refs []tool.Ref
	lines := map[string][]string{}
	for i, h := range shown {
		if err := ctx.Err(); err != nil {
			return tool.Result{}, err
		}
		p := h.note.path
		if _, read := lines[p]; !read {
			// If the note was removed in the meantime, the hit has no snippet.
			if read, _, _, err := v.readContent(ctx, h.note); err == nil {
				lines[p] = read.lines
			}
		}
		d := Hit{
			Path: p, Title: h.note.title, Heading: text.Brief(h.section.heading, 200),
			Start: h.section.start, End: h.section.end, Snippet: snippet(q, lines[p], h.section), Score: h.score,
		}
		if h.section.page > 0 {
			d.Start, d.End = h.section.page, h.section.page
		}
		data.Hits = append(data.Hits, d)
		ref := tool.Ref{Source: tool.Vault, Path: p, Title: d.Title, Start: d.Start, End: d.End, Paged: h.section.page > 0}
		refs = append(refs, ref)
		fmt.Fprintf(&b, "\n%d. %s  %s\n", i+1, ref, h.description())
		if d.Snippet != "" {
			fmt.Fprintf(&b, "   %s\n", d.Snippet)
		}
	}
	return newResult(b.String(), data, refs, len(shown) < len(ranked))
}

// description returns title, heading or entry, and date.
func (h hit) description() string {
	about, date := h.note.title, h.note.date
	if h.section.entry > 0 {
		about += fmt.Sprintf(", entry %d", h.section.entry)
		date = h.section.at.Format(time.RFC3339)
	}
	if h.section.heading != "" {
		about += " > " + text.Brief(h.section.heading, 200)
	}
	if date != "" {
		about += "  (" + date + ")"
	}
	return about
}

func (s *snapshot) rank(q search.Query, perNote int, scope func(*note, section) bool) []hit {
	var notes []*note
	var words []search.Entry
	for _, n := range s.notes {
		inScope := func(at section) bool { return scope(n, at) }
		if slices.ContainsFunc(n.sections, inScope) || len(n.sections) == 0 && inScope(section{}) {
			notes = append(notes, n)
			words = append(words, n.words)
		}
	}
	hitOf := func(h search.Hit) hit {
		found := hit{note: notes[h.Document], score: h.Score}
		if h.Section >= 0 {
			found.section = found.note.sections[h.Section]
		}
		return found
	}
	var hits []hit
	for _, h := range search.Rank(q, words, perNote, func(a, b search.Hit) int {
		return cmp.Or(hitOf(b).date().Compare(hitOf(a).date()), cmp.Compare(a.Document, b.Document))
	}) {
		if found := hitOf(h); scope(found.note, found.section) {
			hits = append(hits, found)
		}
	}
	return hits
}

// snippet returns the line of a section with most terms of the query; a long one from shortly before the first of them.
func snippet(q search.Query, lines []string, s section) string {
	first, last := max(s.start, 1), min(s.end, len(lines))
	if s.level > 0 && first < last {
		first++ // the heading is shown separately
	}
	best, bestLine := -1, ""
	for n := first; n <= last; n++ {
		if found := q.AnsweredBy(lines[n-1]); found > best && strings.TrimSpace(lines[n-1]) != "" {
			best, bestLine = found, lines[n-1]
		}
	}
	if utf8.RuneCountInString(bestLine) > maxSnippet {
		const before = 8
		words := strings.Fields(bestLine)
		answer := slices.IndexFunc(words, func(word string) bool { return q.AnsweredBy(word) > 0 })
		if answer > before {
			bestLine = "… " + strings.Join(words[answer-before:], " ")
		}
	}
	return text.Brief(bestLine, maxSnippet)
}

// skippedText lists what could not be searched; "" if nothing.
func (s *snapshot) skippedText() string {
	const most = 10
	if len(s.skipped) == 0 {
		return ""
	}
	list := "\nNot looked at:\n- " + strings.Join(s.skipped[:min(len(s.skipped), most)], "\n- ") + "\n"
	if more := len(s.skipped) - most; more > 0 {
		list += fmt.Sprintf("- and %d more\n", more)
	}
	return list
}

// countText says how many notes and documents there are.
func countText(all []*note) string {
	documents := 0
	for _, n := range all {
		if n.isDocument() {
			documents++
		}
	}
	counts := tool.Count(len(all)-documents, "note")
	if documents > 0 {
		counts += " and " + tool.Count(documents, "document")
	}
	return counts
}

type listArgs struct {
	Folder    string `json:"folder,omitempty" doc:"folder to list; the vault itself if left out"`
	Tag       string `json:"tag,omitempty" doc:"list only notes with this tag or one below it"`
	Recursive bool   `json:"recursive,omitempty" doc:"list the notes in folders below it too"`
	From      int    `json:"from,omitempty" doc:"number of the first note to list, to go on with a long list" min:"1" default:"1"`
	Limit     int    `json:"limit,omitempty" doc:"notes to list" min:"1" max:"500" default:"100"`
}

func (v *Vault) listTool() tool.Tool {
	return newReadTool(v, tool.Spec{
		Name: "vault_list",
		Description: "Lists the notes, documents (PDF, DOCX) and folders in a folder of the vault, with titles, tags " +
			"and dates. Use it to see what there is; to find words use vault_search.",
	}, v.list)
}

func (v *Vault) list(_ context.Context, s *snapshot, args listArgs) (tool.Result, error) {
	folder, err := s.resolveFolder(args.Folder, "vault_list without a folder shows what there is")
	if err != nil {
		return tool.Result{}, err
	}
	const room = tool.MaxText - 8<<10 // for the first and the last lines
	var b strings.Builder
	folders, total := 0, 0
	for _, f := range s.folders {
		if path.Dir(f) != folder {
			continue
		}
		if folders++; folders <= maxListedFolders && b.Len() < room/2 {
			const afterSlash = "0" // the character after /: what begins with f/ sorts between the two
			fmt.Fprintf(&b, "- %s/ (%s)\n", f, countText(s.notes[s.position(f+"/"):s.position(f+afterSlash)]))
		}
	}
	var refs []tool.Ref
	var listed []*note
	for _, n := range s.notes {
		isBelow := isUnder(n.path, folder) && (args.Recursive || path.Dir(n.path) == folder)
		if !isBelow || args.Tag != "" && !n.hasTag(args.Tag) {
			continue
		}
		listed = append(listed, n)
		if total++; total < args.From || len(refs) == args.Limit || b.Len() > room {
			continue
		}
		refs = append(refs, tool.Ref{Source: tool.Vault, Path: n.path, Title: n.title})
		fmt.Fprintf(&b, "%d. %s  %s", total, n.path, n.title)
		if n.date != "" {
			fmt.Fprintf(&b, "  (%s)", n.date)
		}
		if len(n.tags) > 0 {
			fmt.Fprintf(&b, "  #%s", tool.Clip(strings.Join(n.tags, " #"), 400))
		}
		b.WriteByte('\n')
	}
	name := "The vault"
	if folder != "." {
		name = folder
	}
	head := fmt.Sprintf("%s: %s, %s.\n", name, tool.Count(folders, "folder"), countText(listed))
	last := args.From - 1 + len(refs)
	if last < total && len(refs) > 0 {
		fmt.Fprintf(&b, "%d more; go on with from %d.\n", total-last, last+1)
	}
	return newResult(head+b.String()+s.skippedText(), nil, refs, folders > maxListedFolders || last < total)
}
