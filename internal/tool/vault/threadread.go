package vault

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"sibyl/internal/files"
	"sibyl/internal/tool"
)

// ThreadData is the Data of thread_read.
type ThreadData struct {
	Thread   string   `json:"thread"`
	Path     string   `json:"path"`
	Hash     string   `json:"hash,omitempty"` // "" if the thread is too large to be read whole
	Entries  []Entry  `json:"entries"`
	Total    int      `json:"total"` // entries there are
	Warnings []string `json:"warnings,omitempty"`
}

// Entry is an entry with its text, as it was pushed.
type Entry struct {
	EntryInfo
	Text string `json:"text"`
}

// SeekData is the Data of thread_seek.
type SeekData struct {
	Hits  []ThreadHit `json:"hits"`
	Total int         `json:"total"` // entries that answer the query
}

// ThreadHit is an entry that answers a search. Nobody read it yet.
type ThreadHit struct {
	Thread  string    `json:"thread"`
	Path    string    `json:"path"`
	Entry   EntryInfo `json:"entry"`
	Snippet string    `json:"snippet"`
	Score   float64   `json:"score"` // comparable within one search only
}

type threadReadArgs struct {
	Thread string `json:"thread" doc:"name of the thread"`
	From   int    `json:"from,omitempty" doc:"number of the first entry to read, from 1; -5 begins with the fifth from the end"`
	Limit  int    `json:"limit,omitempty" doc:"entries to read" min:"1" max:"100" default:"20"`
}

func (v *Vault) threadReadTool() tool.Tool {
	return reader(v, tool.Spec{
		Name:        "thread_read",
		Description: "Reads entries of a thread in the order they were written, with their lines, so that they can be cited.",
	}, v.readThread)
}

func (v *Vault) readThread(_ context.Context, s *snapshot, args threadReadArgs) (tool.Result, error) {
	n, err := s.thread(args.Thread)
	if err != nil {
		return tool.Result{}, err
	}
	content, err := v.readFile(n.path)
	if err != nil {
		return tool.Result{}, err
	}
	d := parse(n.path, content.Content, content.Cut)
	entries := d.entries()
	data := ThreadData{Thread: bare(n.path), Path: n.path, Entries: []Entry{}, Total: len(entries), Warnings: d.warnings}
	if !content.Cut {
		data.Hash = files.Hash(content.Content)
	}
	from := max(0, args.From-1)
	if args.From < 0 {
		from = max(0, len(entries)+args.From)
	}
	if from > 0 && from >= len(entries) {
		return tool.Result{}, tool.Errorf(tool.InvalidArgs, "", "the thread %q has %s, and no number %d", data.Thread, tool.Count(len(entries), "entry"), args.From)
	}
	text, refs, cut := data.read(d, from, min(len(entries), from+args.Limit))
	return answer(text, data, refs, len(data.Entries), cut || content.Cut)
}

// read takes the entries from-to (counted from 0, to not included) as far as they fit.
func (data *ThreadData) read(d *document, from, to int) (text string, refs []tool.Ref, cut bool) {
	const room = tool.MaxText - 4<<10
	var b strings.Builder
	fmt.Fprintf(&b, "Thread %q, %s.\n", data.Thread, tool.Count(data.Total, "entry"))
	if len(data.Warnings) > 0 {
		fmt.Fprintf(&b, "Warning: %s\n", strings.Join(data.Warnings, "; "))
	}
	for i := from; i < to; i++ {
		e := Entry{EntryInfo: d.entryInfo(i), Text: d.entryText(d.entries()[i])}
		if left := room - b.Len(); len(e.Text)+300 > left {
			if len(data.Entries) > 0 {
				break
			}
			e.Text, cut = tool.Clip(e.Text, left-300)+"…", true // a person made it longer than a push can
		}
		ref := tool.Ref{Source: tool.Vault, Path: d.path, Title: d.title, Start: e.Start, End: e.End, Hash: data.Hash, Opened: true}
		refs, data.Entries = append(refs, ref), append(data.Entries, e)
		fmt.Fprintf(&b, "\n%d. %s  %s", e.Number, e.Time.Format(time.RFC3339), ref)
		if e.Title != "" {
			fmt.Fprintf(&b, "  %s", e.Title)
		}
		fmt.Fprintf(&b, "\n%s\n", e.Text)
	}
	if last := from + len(data.Entries); last < data.Total {
		fmt.Fprintf(&b, "\n%d more; go on with from %d.\n", data.Total-last, last+1)
	}
	return b.String(), refs, cut || from+len(data.Entries) < data.Total
}

type seekArgs struct {
	Query  string `json:"query" doc:"words to look for; rare words count more"`
	Thread string `json:"thread,omitempty" doc:"name of the one thread to search"`
	Limit  int    `json:"limit,omitempty" doc:"hits to return" min:"1" max:"50" default:"10"`
}

func (v *Vault) seekTool() tool.Tool {
	return reader(v, tool.Spec{
		Name:        "thread_seek",
		Description: "Searches the entries of all threads, or of one, for words. A hit is not read yet: open it with thread_read before you cite it.",
		Search:      true,
	}, v.seek)
}

func (v *Vault) seek(ctx context.Context, s *snapshot, args seekArgs) (tool.Result, error) {
	q, err := queryOf(args.Query)
	if err != nil {
		return tool.Result{}, err
	}
	scope := func(n *note) bool { return isThread(n.path) }
	if args.Thread != "" {
		only, err := s.thread(args.Thread)
		if err != nil {
			return tool.Result{}, err
		}
		scope = func(n *note) bool { return n == only }
	}
	ranked := slices.DeleteFunc(s.rank(q, scope, maxParts), func(h hit) bool {
		return h.section < 0 || h.note.sections[h.section].entry == ""
	})
	shown, err := v.describe(ctx, q, ranked[:min(len(ranked), args.Limit)])
	if err != nil {
		return tool.Result{}, err
	}
	data := SeekData{Hits: []ThreadHit{}, Total: len(ranked)}
	var b strings.Builder
	var refs []tool.Ref
	for i, h := range shown {
		n := ranked[i].note
		before := 0
		if n.sections[0].entry == "" {
			before = 1
		}
		entry := infoOf(n.sections[ranked[i].section], ranked[i].section-before)
		data.Hits = append(data.Hits, ThreadHit{bare(n.path), n.path, entry, h.Snippet, h.Score})
		ref := tool.Ref{Source: tool.Vault, Path: n.path, Title: n.title, Start: entry.Start, End: entry.End}
		refs = append(refs, ref)
		fmt.Fprintf(&b, "\n%d. thread %q, entry %d of %s  %s  %s\n   %s\n", i+1, bare(n.path), entry.Number, h.Date, ref, entry.Title, h.Snippet)
	}
	head := fmt.Sprintf("%d of %s for %q. Not read yet: open with thread_read.\n", len(shown), tool.Count(len(ranked), "entry"), oneLine(args.Query, 100))
	if len(shown) == 0 {
		head = fmt.Sprintf("Nothing found for %q in the threads.\n", oneLine(args.Query, 100))
	}
	return answer(head+b.String(), data, refs, len(shown), len(shown) < len(ranked))
}
