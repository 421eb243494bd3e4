package vault

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"sibyl/internal/files"
	doc "sibyl/internal/media/document"
	"sibyl/internal/text"
	"sibyl/internal/tool"
)

const (
	maxRelated = 50       // links, and backlinks, that a result lists
	maxLine    = 8 << 10  // bytes shown of one line
	maxShown   = 32 << 10 // bytes of numbered lines: leaves room for the text around them
)

// ReadData is the Data of vault_read. Lines count from 1.
type ReadData struct {
	Path    string `json:"path"`
	Title   string `json:"title"`
	Start   int    `json:"start"` // lines in Content, or pages of a document that has them; 0 if it has none
	End     int    `json:"end"`
	Content string `json:"content"` // without line numbers, lines end in \n
}

type readArgs struct {
	Path    string `json:"path,omitempty" doc:"this or note"`
	Note    string `json:"note,omitempty" doc:"title, alias or file name"`
	Section string `json:"section,omitempty" doc:"a heading"`
	Start   int    `json:"start,omitempty" min:"1"`
	End     int    `json:"end,omitempty" min:"1"`
}

func (v *Vault) readTool() tool.Tool {
	return newReadTool(v.survey, tool.Spec{
		Name:        "vault_read",
		Description: "Reads a note with its links, or pages of a PDF or DOCX.",
	}, v.read)
}

func (v *Vault) read(ctx context.Context, s *survey, args readArgs) (tool.Result, error) {
	err := checkRead(&args)
	if err != nil {
		return tool.Result{}, err
	}
	var p string
	if args.Path != "" {
		p, err = s.byPath(ctx, args.Path)
	} else {
		p, err = s.byName(ctx, args.Note)
	}
	if err != nil {
		return tool.Result{}, v.linkError(args.Path, err)
	}
	d, hash, isCut, err := v.readContent(ctx, p)
	if err != nil {
		return tool.Result{}, err
	}
	g, err := s.graphAround(ctx, d)
	if err != nil {
		return tool.Result{}, err
	}
	ref := tool.Ref{Source: tool.Vault, Path: d.path, Title: d.title, Hash: hash, Paged: d.paged, Opened: true}
	var from, to int
	show := d.showLines
	if d.paged {
		from, to, err = d.pageRange(args)
		show = d.showPages
	} else {
		from, to, err = d.lineRange(args, isCut)
	}
	if err != nil {
		return tool.Result{}, err
	}
	data := ReadData{Path: d.path, Title: d.title}
	shown, cut := show(from, to, &data)
	ref.Start, ref.End = data.Start, data.End
	shown = d.header(ref, to, doc.IsPDFOrDOCX(p)) + shown + relatedLinks(g, d)
	refs := []tool.Ref{ref}
	if d.paged {
		refs = d.pageRefs(ref, data.Start, data.End)
	}
	res, err := newResult(shown, data, refs, cut || isCut)
	res.Items = 1
	if pages, n := doc.BlankPages(d.blank, from, to); n > 0 {
		res.LeaveOut(tool.NoText, n, d.path+" "+pages)
	}
	return res, err
}

// checkRead splits a note argument in the form of a link, and refuses contradictions.
func checkRead(args *readArgs) error {
	if (args.Path == "") == (args.Note == "") {
		return tool.Errorf(tool.InvalidArgs, "", "give either path or note")
	}
	if args.Note != "" {
		inner := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(args.Note), "!"))
		inner = strings.TrimSuffix(strings.TrimPrefix(inner, "[["), "]]")
		l := parseLink(inner)
		if l.target == "" {
			return tool.Errorf(tool.InvalidArgs, "", "note %q names no note", text.Brief(args.Note, 100))
		}
		args.Note = l.target
		if args.Section == "" && args.Start == 0 && args.End == 0 {
			args.Section = l.heading
		}
	}
	switch {
	case args.Section != "" && (args.Start != 0 || args.End != 0):
		return tool.Errorf(tool.InvalidArgs, "", "give either section, or start and end")
	case args.End != 0 && args.End < args.Start:
		return tool.Errorf(tool.InvalidArgs, "", "end (%d) lies before start (%d)", args.End, args.Start)
	}
	return nil
}

// linkError returns a better error if the path exists but leads over a link; otherwise cause.
func (v *Vault) linkError(p string, cause error) error {
	if p == "" || checkPath(p) != nil {
		return cause
	}
	if refused, ok := errors.AsType[*files.Error](files.NoLinks(v.root, p)); ok {
		return refused
	}
	return cause
}

// lineRange returns the range of lines that args ask for. An empty note has the range 1-0.
func (d *document) lineRange(args readArgs, cut bool) (from, to int, err error) {
	if args.Section != "" {
		s, found := d.sectionUnder(args.Section)
		if !found {
			return 0, 0, tool.Errorf(tool.NotFound, d.headingsHint(), "%s has no section %q", d.path, args.Section)
		}
		return s.start, s.end, nil
	}
	from, to = max(1, args.Start), len(d.lines)
	if args.End != 0 {
		to = min(to, args.End)
	}
	if from > max(1, len(d.lines)) {
		kind := tool.InvalidArgs
		if cut {
			kind = tool.TooLarge
		}
		return 0, 0, tool.Errorf(kind, fmt.Sprintf("lines 1-%d can be read", len(d.lines)),
			"%s has no readable line %d", d.path, from)
	}
	return from, to, nil
}

func (d *document) headingsHint() string {
	var headings []string
	for _, s := range d.sections {
		if name := text.Brief(s.heading, 80); name != "" && len(headings) < 20 {
			headings = append(headings, name)
		}
	}
	if len(headings) == 0 {
		return "the note has no headings: read it by lines"
	}
	return "its sections: " + strings.Join(headings, "; ")
}

// showLines numbers the lines from-to as far as they fit, and sets in data which ones these are.
func (d *document) showLines(from, to int, data *ReadData) (numbered string, cut bool) {
	var b, content strings.Builder
	for n := from; n <= to; n++ {
		line := tool.Clip(d.lines[n-1], maxLine)
		if len(line) < len(d.lines[n-1]) {
			line, cut = line+"…", true
		}
		if b.Len()+len(line)+10 > maxShown {
			return b.String(), true
		}
		fmt.Fprintf(&b, "%5d  %s\n", n, line)
		content.WriteString(line + "\n")
		data.Start, data.End, data.Content = from, n, content.String()
	}
	return b.String(), cut
}

// header returns the text above the lines or pages that were read; `to` is the last one that was asked for. It leaves
// out the hash of a document, which is never written to.
func (d *document) header(ref tool.Ref, to int, isDocument bool) string {
	kind, unit, last := "Note", "Lines", len(d.lines)
	if isDocument {
		kind, ref.Hash = "Document", ""
	}
	if d.paged {
		unit, last = "Pages", max(d.sections[len(d.sections)-1].page, slices.Max(append(d.blank, 0)))
	}
	var b strings.Builder
	for _, line := range []struct{ name, value string }{
		{kind, d.path},
		{"Title", d.title},
		{"Date", d.front.date},
		{"Tags", tool.Clip(strings.Join(d.tags, ", "), 1000)},
		{"Aliases", tool.Clip(strings.Join(d.front.aliases, ", "), 1000)},
		{"Hash", ref.Hash},
		{"Warning", strings.Join(d.warnings, "; ")},
	} {
		if line.value != "" {
			fmt.Fprintf(&b, "%s: %s\n", line.name, line.value)
		}
	}
	switch {
	case len(d.lines) == 0:
		b.WriteString("The note is empty.\n")
	case ref.End < to:
		fmt.Fprintf(&b, "%s: %d-%d of %d; go on with start %d\n", unit, ref.Start, ref.End, last, ref.End+1)
	default:
		fmt.Fprintf(&b, "%s: %d-%d of %d\n", unit, ref.Start, ref.End, last)
	}
	return b.String() + "\n"
}

// relatedLinks lists the links in a note, and the links to it from others.
func relatedLinks(g *graph, d *document) string {
	n := noteIn(d)
	var b strings.Builder
	if len(d.links) > 0 {
		fmt.Fprintf(&b, "\nLinks (%d):\n", len(d.links))
	}
	for _, l := range d.links[:min(len(d.links), maxRelated)] {
		written := l.target
		if l.heading != "" {
			written += "#" + l.heading
		}
		fmt.Fprintf(&b, "- line %d: [[%s]] -> %s\n", l.line, text.Brief(written, 80), linkTarget(g, n, l))
	}
	links := g.backlinks(n)
	if len(links) > 0 {
		fmt.Fprintf(&b, "\nLinked from (%d):\n", len(links))
	}
	for _, l := range links[:min(len(links), maxRelated)] {
		fmt.Fprintf(&b, "- %s:%d %s\n", l.from.path, l.line, text.Brief(l.from.title, 80))
	}
	return b.String()
}

func linkTarget(g *graph, from *note, l link) string {
	target, ambiguous := g.resolveLink(from, l)
	switch {
	case target != nil:
		return target.path
	case ambiguous:
		return "(several notes have this name)"
	case path.Ext(l.target) != "" && !isNote(l.target) && !doc.IsPDFOrDOCX(l.target):
		return "(not a note)"
	}
	return "(no such note)"
}
