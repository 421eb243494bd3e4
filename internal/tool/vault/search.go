package vault

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"sibyl/internal/files"
	"sibyl/internal/redact"
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
	Query  string `json:"query"`
	Limit  int    `json:"limit,omitempty" min:"1" max:"50" default:"10"`
	Folder string `json:"folder,omitempty"`
	Tag    string `json:"tag,omitempty"`
}

func (v *Vault) searchTool() tool.Tool {
	return newReadTool(v.look, tool.Spec{
		Name: "vault_search",
		Description: "Searches the user's notes, threads and documents for what they decided, wrote or planned. Open a hit " +
			"with vault_read.",
		Search: true,
	}, v.search)
}

func (v *Vault) search(ctx context.Context, s *snapshot, args searchArgs) (tool.Result, error) {
	folder, err := s.resolveFolder(args.Folder, "vault_list shows the folders")
	if err != nil {
		return tool.Result{}, err
	}
	in := scope{places: s.below(folder), tag: args.Tag}
	if args.Tag != "" {
		names, err := v.survey(ctx)
		if err != nil {
			return tool.Result{}, err
		}
		s = names.snapshot
		in.places = names.tagged(folder, args.Tag)
	}
	var unread unseen
	if in.documents, unread, err = v.readDocuments(ctx, s.places); err != nil {
		return tool.Result{}, err
	}
	res, skipped, err := v.searchNotes(ctx, s, args.Query, args.Limit, perNote, in)
	slices.Concat(s.unseen, unread, skipped).report(&res)
	return res, err
}

type seekArgs struct {
	Query  string `json:"query"`
	Thread string `json:"thread,omitempty"`
	Limit  int    `json:"limit,omitempty" min:"1" max:"50" default:"10"`
}

func (v *Vault) seekTool() tool.Tool {
	return newReadTool(v.lookAtThreads, tool.Spec{
		Name:        "thread_seek",
		Description: "Searches the entries of threads. Open a hit with thread_read.",
		Search:      true,
	}, v.seek)
}

func (v *Vault) seek(ctx context.Context, s *snapshot, args seekArgs) (tool.Result, error) {
	in := scope{places: s.places, onlyEntries: true}
	if args.Thread != "" {
		p, err := s.threadPath(args.Thread)
		if err != nil {
			return tool.Result{}, err
		}
		in.places = slices.DeleteFunc(slices.Clone(s.places), func(at place) bool { return at.path != p })
	}
	res, skipped, err := v.searchNotes(ctx, s, args.Query, args.Limit, maxParts, in)
	slices.Concat(s.unseen, skipped).report(&res)
	return res, err
}

// scope is the part of a vault that is searched.
type scope struct {
	places      []place              // by path
	documents   map[string]*document // those of the PDFs and DOCX that were read, by path
	tag         string               // "": notes need no tag
	onlyEntries bool                 // of threads
}

// isWhole says whether all of each place belongs to the scope.
func (sc scope) isWhole() bool { return sc.tag == "" && !sc.onlyEntries }

// holds says whether a part of a note belongs to the scope.
func (sc scope) holds(n *note) bool {
	return (sc.tag == "" || n.hasTag(sc.tag)) && (!sc.onlyEntries || len(entriesOf(n.sections)) > 0)
}

// hit is a section that a search found.
type hit struct {
	note    *counted
	section int // -1: the note has no section at all
	score   float64
}

// date returns the time of the entry that was found, or else that of the note.
func (h hit) date() time.Time {
	if h.section >= 0 && h.section < len(h.note.entries) && h.note.entries[h.section].entry > 0 {
		return h.note.entries[h.section].at
	}
	return h.note.at
}

// searchNotes lists the sections in scope that contain the words, the best first; ties are sorted by date (the latest
// first), path and line. It lists at most perNote sections of a note.
func (v *Vault) searchNotes(
	ctx context.Context, s *snapshot, words string, limit, perNote int, in scope,
) (res tool.Result, skipped unseen, err error) {
	shownQuery := text.Brief(words, 100)
	q := search.NewQuestion(tool.Clip(words, 4096))
	if q.Empty() {
		return tool.Result{}, nil, tool.Errorf(tool.InvalidArgs, "", "the query %q has no word in it", shownQuery)
	}
	notes, others, skipped, err := v.count(ctx, s, q, in)
	if err != nil {
		return tool.Result{}, nil, err
	}
	ranked := rank(q, notes, others, perNote, in)
	if len(ranked) == 0 {
		none := fmt.Sprintf("Nothing found for %q in %s.\n", shownQuery, countText(s.places))
		res, err = newResult(none, SearchData{Hits: []Hit{}}, nil, false)
		return res, skipped, err
	}
	shown := ranked[:min(len(ranked), limit)]
	var b strings.Builder
	var data SearchData
	var refs []tool.Ref
	documents := map[string]*document{}
	for _, h := range shown {
		if err := ctx.Err(); err != nil {
			return tool.Result{}, nil, err
		}
		p := h.note.path
		if documents[p] == nil {
			if documents[p], _, _, err = v.readContent(ctx, p); err != nil {
				documents[p] = &document{}
			}
		}
		d := documents[p]
		if d.path == "" || h.section >= len(d.sections) {
			continue // the note was removed or changed in the meantime
		}
		var at section
		if h.section >= 0 {
			at = d.sections[h.section]
		}
		found := Hit{
			Path: p, Title: d.title, Heading: text.Brief(at.heading, 200),
			Start: at.start, End: at.end, Snippet: snippet(q, d.lines, at), Score: h.score,
		}
		if at.page > 0 {
			found.Start, found.End = at.page, at.page
		}
		data.Hits = append(data.Hits, found)
		ref := tool.Ref{Source: tool.Vault, Path: p, Title: d.title, Start: found.Start, End: found.End, Paged: at.page > 0}
		refs = append(refs, ref)
		fmt.Fprintf(&b, "\n%d. %s  %s\n", len(refs), ref, d.description(at))
		if found.Snippet != "" {
			fmt.Fprintf(&b, "   %s\n", found.Snippet)
		}
	}
	head := fmt.Sprintf("%d of %s for %q. Not read yet: open with vault_read or thread_read.\n",
		len(refs), tool.Count(len(ranked), "hit"), shownQuery)
	res, err = newResult(head+b.String(), data, refs, len(shown) < len(ranked))
	return res, skipped, err
}

// description returns title, heading or entry, and date of a section.
func (d *document) description(at section) string {
	about, date := d.title, d.front.date
	if at.entry > 0 {
		about += fmt.Sprintf(", entry %d", at.entry)
		date = at.at.Format(time.RFC3339)
	}
	if at.heading != "" {
		about += " > " + text.Brief(at.heading, 200)
	}
	if date != "" {
		about += "  (" + date + ")"
	}
	return about
}

// counted is a note or document in which the words of a query were counted.
type counted struct {
	path    string
	at      time.Time
	entries []section // of a thread
	words   search.Entry
}

// countIn counts words in a document; nil if it does not belong to the scope.
func (sc scope) countIn(d *document, f *search.Finder) *counted {
	if !sc.holds(noteIn(d)) {
		return nil
	}
	c := &counted{path: d.path, at: d.front.at, words: f.Count(searchDocument(d))}
	if isThread(d.path) && c.words.Found() {
		c.entries = noteOf(d).sections
	}
	return c
}

// count counts the words of a query in the notes and documents of a scope, by path. Notes that hold none of them are
// not parsed for it.
func (v *Vault) count(
	ctx context.Context, s *snapshot, q search.Query, in scope,
) (notes []*counted, others search.Others, skipped unseen, err error) {
	all, learnt, errs := make([]*counted, len(in.places)), make([]known, len(in.places)), make([]error, len(in.places))
	partly := make([]unseen, len(in.places))
	began, before := time.Now(), v.names.all()
	// A secret that is taken out leaves words of its own.
	everyNote := !in.isWhole() || q.Finder().MayHold([]byte(redact.Mark))
	err = v.readEach(ctx, in.places, func() visit {
		finder := q.Finder()
		return func(i int, f files.File, err error) {
			if errs[i] = err; err != nil {
				return
			}
			p := in.places[i].path
			if f.Cut {
				partly[i].add(left{tool.IsLarge, 1, fmt.Sprintf("%s, after %d MB", p, v.noteBytes>>20)})
			}
			if !utf8.Valid(f.Content) && !f.Cut {
				partly[i].add(left{tool.Encoding, 1, p})
			}
			learnt[i] = before[p]
			isKnown := !in.isWhole() || isSameFile(learnt[i].info, f.Info)
			if everyNote || mayHold(finder, p, f.Content) {
				d := parseNote(p, f.Content, f.Cut)
				if all[i] = in.countIn(d, finder); !isKnown {
					learnt[i] = learn(d, f.Info, began)
				}
			} else if !isKnown {
				learnt[i] = learn(parseText(p, f.Content, f.Cut), f.Info, began)
			}
		}
	})
	if err != nil {
		return nil, others, nil, err
	}
	if in.isWhole() && len(in.places) == len(s.places) { // then it is the whole vault
		after := make(map[string]known, len(in.places))
		for i, at := range in.places {
			after[at.path] = learnt[i]
		}
		v.names.keep(after)
	}
	finder := q.Finder()
	for i, at := range in.places {
		skipped = append(skipped, partly[i]...)
		if d := in.documents[at.path]; d != nil {
			all[i] = in.countIn(d, finder)
		}
		switch {
		case errs[i] != nil:
			skipped.add(whySkipped(at.path, errs[i]))
		case all[i] != nil:
			notes = append(notes, all[i])
		case in.isWhole():
			others.Documents++
			others.Sections += learnt[i].sections
			others.Bytes += learnt[i].bytes
		}
	}
	return notes, others, skipped, nil
}

// mayHold says whether the note at p may hold a word that is looked for, in its name, text or front matter, in which
// YAML may write a character by an escape.
func mayHold(f *search.Finder, p string, content []byte) bool {
	if f.MayHold([]byte(noteName(p))) || f.MayHold(content) {
		return true
	}
	rest, has := bytes.CutPrefix(bytes.TrimPrefix(content, []byte("\ufeff")), []byte("---"))
	if !has {
		return false
	}
	front, _, closed := bytes.Cut(rest, []byte("\n---"))
	return closed && bytes.IndexByte(front, '\\') >= 0
}

func rank(q search.Query, notes []*counted, others search.Others, perNote int, in scope) []hit {
	entries := make([]search.Entry, len(notes))
	for i, n := range notes {
		entries[i] = n.words
	}
	hitOf := func(h search.Hit) hit { return hit{notes[h.Document], h.Section, h.Score} }
	var hits []hit
	for _, h := range search.Rank(q, entries, others, perNote, func(a, b search.Hit) int {
		return cmp.Or(hitOf(b).date().Compare(hitOf(a).date()), cmp.Compare(a.Document, b.Document))
	}) {
		if in.onlyEntries && (h.Section < 0 || notes[h.Document].entries[h.Section].entry == 0) {
			continue
		}
		hits = append(hits, hitOf(h))
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

// countText says how many notes and documents there are.
func countText(all []place) string {
	documents := 0
	for _, at := range all {
		if at.isDocument() {
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
	Folder    string `json:"folder,omitempty"`
	Tag       string `json:"tag,omitempty"`
	Recursive bool   `json:"recursive,omitempty"`
	From      int    `json:"from,omitempty" doc:"number of the first note" min:"1" default:"1"`
	Limit     int    `json:"limit,omitempty" min:"1" max:"500" default:"100"`
}

func (v *Vault) listTool() tool.Tool {
	return newReadTool(v.survey, tool.Spec{
		Name:        "vault_list",
		Description: "Lists notes and folders with tags and dates.",
	}, v.listNotes)
}

func (v *Vault) listNotes(ctx context.Context, s *survey, args listArgs) (tool.Result, error) {
	folder, err := s.resolveFolder(args.Folder, "vault_list without a folder shows what there is")
	if err != nil {
		return tool.Result{}, err
	}
	const room = tool.MaxText - 8<<10 // for the first and the last lines
	var b strings.Builder
	folders := 0
	for _, f := range s.folders {
		if path.Dir(f) != folder {
			continue
		}
		if folders++; folders <= maxListedFolders && b.Len() < room/2 {
			fmt.Fprintf(&b, "- %s/ (%s)\n", f, countText(s.below(f)))
		}
	}
	listed, err := s.listed(ctx, folder, args)
	if err != nil {
		return tool.Result{}, err
	}
	var refs []tool.Ref
	first := min(args.From-1, len(listed))
	err = v.eachNote(ctx, listed[first:min(first+args.Limit, len(listed))], func(n *note) {
		if b.Len() > room {
			return
		}
		refs = append(refs, tool.Ref{Source: tool.Vault, Path: n.path, Title: n.title})
		fmt.Fprintf(&b, "%d. %s  %s", first+len(refs), n.path, n.title)
		if n.date != "" {
			fmt.Fprintf(&b, "  (%s)", n.date)
		}
		if len(n.tags) > 0 {
			fmt.Fprintf(&b, "  #%s", tool.Clip(strings.Join(n.tags, " #"), 400))
		}
		b.WriteByte('\n')
	})
	if err != nil {
		return tool.Result{}, err
	}
	name := "The vault"
	if folder != "." {
		name = folder
	}
	head := fmt.Sprintf("%s: %s, %s.\n", name, tool.Count(folders, "folder"), countText(listed))
	last, total := args.From-1+len(refs), len(listed)
	if last < total && len(refs) > 0 {
		fmt.Fprintf(&b, "%d more; go on with from %d.\n", total-last, last+1)
	}
	res, err := newResult(head+b.String(), nil, refs, folders > maxListedFolders || last < total)
	s.unseen.report(&res)
	return res, err
}

// listed are the places in a folder that args ask for.
func (s *survey) listed(ctx context.Context, folder string, args listArgs) (listed []place, err error) {
	places := s.below(folder)
	if args.Tag != "" {
		err = s.vault.eachNote(ctx, s.tagged(folder, args.Tag), func(n *note) {
			if n.hasTag(args.Tag) {
				listed = append(listed, place{path: n.path})
			}
		})
		places = listed
	}
	return slices.DeleteFunc(slices.Clone(places), func(at place) bool {
		return !args.Recursive && path.Dir(at.path) != folder
	}), err
}
