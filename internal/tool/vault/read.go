package vault

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"sibyl/internal/files"
	"sibyl/internal/tool"
)

const (
	mostRelated = 50       // links, and backlinks, that a result lists
	maxLine     = 8 << 10  // bytes shown of one line
	maxShown    = 32 << 10 // bytes of numbered lines: leaves room for what stands around them
)

// ReadData is the Data of vault_read. Lines count from 1.
type ReadData struct {
	Path          string         `json:"path"`
	Title         string         `json:"title"`
	Hash          string         `json:"hash,omitempty"` // "" if the note is too large to be read whole
	Lines         int            `json:"lines"`          // of the whole note
	Start         int            `json:"start"`          // lines in Content; 0 if it has none
	End           int            `json:"end"`
	Content       string         `json:"content"` // without line numbers, lines end in \n
	Heading       string         `json:"heading,omitempty"`
	FrontMatter   map[string]any `json:"front_matter,omitempty"` // texts as written, lists and maps of them
	Tags          []string       `json:"tags,omitempty"`
	Aliases       []string       `json:"aliases,omitempty"`
	Date          string         `json:"date,omitempty"`
	Links         []Link         `json:"links,omitempty"`     // out of the note, at most 50
	Backlinks     []Backlink     `json:"backlinks,omitempty"` // into the note, at most 50
	LinkCount     int            `json:"link_count"`
	BacklinkCount int            `json:"backlink_count"`
	Warnings      []string       `json:"warnings,omitempty"`
}

// Link is a [[link]] out of a note.
type Link struct {
	Target    string `json:"target"` // as written; "" for a heading of the same note
	Heading   string `json:"heading,omitempty"`
	Text      string `json:"text,omitempty"`
	Line      int    `json:"line"`
	Path      string `json:"path,omitempty"`      // where it leads; "" to no note
	Ambiguous bool   `json:"ambiguous,omitempty"` // several notes could be meant
}

// Backlink is a link into a note.
type Backlink struct {
	Path  string `json:"path"`
	Title string `json:"title"`
	Line  int    `json:"line"`
}

type readArgs struct {
	Path    string `json:"path,omitempty" doc:"path of the note, such as projects/cache.md; this or note"`
	Note    string `json:"note,omitempty" doc:"title, alias or file name, also as [[note#heading]]; this or path"`
	Section string `json:"section,omitempty" doc:"read only the section under this heading, subsections included"`
	Start   int    `json:"start,omitempty" doc:"first line to read" min:"1"`
	End     int    `json:"end,omitempty" doc:"last line to read" min:"1"`
}

func (v *Vault) readTool() tool.Tool {
	return reader(v, tool.Spec{
		Name: "vault_read",
		Description: "Reads a note with line numbers, its front matter, the links in it and the notes that link to it. " +
			"Name it by path, or by title, alias or file name as in a [[link]]. Its hash is what vault_write needs to replace it.",
	}, v.read)
}

func (v *Vault) read(_ context.Context, s *snapshot, args readArgs) (tool.Result, error) {
	err := checkRead(&args)
	if err != nil {
		return tool.Result{}, err
	}
	var n *note
	if args.Path != "" {
		n, err = s.atPath(args.Path)
	} else {
		n, err = s.byName(args.Note)
	}
	if err != nil {
		return tool.Result{}, v.linkError(args.Path, err)
	}
	content, err := v.readFile(n.path)
	if err != nil {
		return tool.Result{}, err
	}
	d := parse(n.path, content.Content, content.Cut)
	data := ReadData{
		Path: d.path, Title: d.title, Lines: len(d.lines), FrontMatter: d.front.fields, Tags: d.tags, Aliases: d.front.aliases,
		Date: d.front.date, LinkCount: len(d.links), Warnings: d.warnings,
	}
	if !content.Cut {
		data.Hash = files.Hash(content.Content)
	}
	from, to, err := d.span(args, &data)
	if err != nil {
		return tool.Result{}, err
	}
	g := s.graph()
	data.addLinks(g, n, d)
	shown, cut := d.show(from, to, &data)
	ref := tool.Ref{Source: tool.Vault, Path: d.path, Title: d.title, Start: data.Start, End: data.End, Hash: data.Hash, Opened: true}
	return answer(data.text(shown, to), data, []tool.Ref{ref}, 1, cut || content.Cut)
}

// checkRead takes a note argument in the form of a link apart, and refuses contradictions.
func checkRead(args *readArgs) error {
	if (args.Path == "") == (args.Note == "") {
		return tool.Errorf(tool.InvalidArgs, "", "give either path or note")
	}
	if args.Note != "" {
		inner := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(args.Note), "!"))
		inner = strings.TrimSuffix(strings.TrimPrefix(inner, "[["), "]]")
		l := parseLink(inner, false)
		if l.target == "" {
			return tool.Errorf(tool.InvalidArgs, "", "note %q names no note", oneLine(args.Note, 100))
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

// linkError explains why a path that is no note exists all the same.
func (v *Vault) linkError(p string, cause error) error {
	if p == "" || checkPath(p) != nil {
		return cause
	}
	if refused, ok := errors.AsType[*files.Error](files.NoLinks(v.root, p)); ok {
		return refused
	}
	return cause
}

// span is the range of lines that args ask for. An empty note has the range 1-0.
func (d *document) span(args readArgs, data *ReadData) (from, to int, err error) {
	if args.Section != "" {
		s, found := d.named(args.Section)
		if !found {
			return 0, 0, tool.Errorf(tool.NotFound, d.headingsHint(), "%s has no section %q", d.path, args.Section)
		}
		data.Heading = s.heading
		return s.start, s.end, nil
	}
	from, to = max(1, args.Start), len(d.lines)
	if args.End != 0 {
		to = min(to, args.End)
	}
	if from > max(1, len(d.lines)) {
		kind := tool.InvalidArgs
		if data.Hash == "" {
			kind = tool.TooLarge
		}
		return 0, 0, tool.Errorf(kind, fmt.Sprintf("lines 1-%d can be read", len(d.lines)), "%s has no readable line %d", d.path, from)
	}
	return from, to, nil
}

func (d *document) headingsHint() string {
	var headings []string
	for _, s := range d.sections {
		if name := oneLine(s.heading, 80); name != "" && len(headings) < 20 {
			headings = append(headings, name)
		}
	}
	if len(headings) == 0 {
		return "the note has no headings: read it by lines"
	}
	return "its sections: " + strings.Join(headings, "; ")
}

// show numbers the lines from-to as far as they fit, and notes in data which ones did.
func (d *document) show(from, to int, data *ReadData) (numbered string, cut bool) {
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

func (data *ReadData) addLinks(g *graph, n *note, d *document) {
	for _, l := range d.links[:min(len(d.links), mostRelated)] {
		out := Link{Target: l.target, Heading: l.heading, Text: l.text, Line: l.line}
		target, ambiguous := g.target(n, l)
		if out.Ambiguous = ambiguous; target != nil {
			out.Path = target.path
		}
		data.Links = append(data.Links, out)
	}
	arrows := g.into[n]
	data.BacklinkCount = len(arrows)
	for _, a := range arrows[:min(len(arrows), mostRelated)] {
		data.Backlinks = append(data.Backlinks, Backlink{Path: a.from.path, Title: a.from.title, Line: a.line})
	}
}

func (data *ReadData) text(numbered string, to int) string {
	var b strings.Builder
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%s: %s\n", name, value)
		}
	}
	line("Note", data.Path)
	line("Title", data.Title)
	line("Date", data.Date)
	line("Tags", tool.Clip(strings.Join(data.Tags, ", "), 1000))
	line("Aliases", tool.Clip(strings.Join(data.Aliases, ", "), 1000))
	line("Hash", data.Hash)
	line("Warning", strings.Join(data.Warnings, "; "))
	switch {
	case data.Lines == 0:
		b.WriteString("The note is empty.\n")
	case data.End < to:
		fmt.Fprintf(&b, "Lines: %d-%d of %d; go on with start %d\n", data.Start, data.End, data.Lines, data.End+1)
	default:
		fmt.Fprintf(&b, "Lines: %d-%d of %d\n", data.Start, data.End, data.Lines)
	}
	fmt.Fprintf(&b, "\n%s", numbered)
	if data.LinkCount > 0 {
		fmt.Fprintf(&b, "\nLinks (%d):\n", data.LinkCount)
		for _, l := range data.Links {
			fmt.Fprintf(&b, "- line %d: [[%s]] -> %s\n", l.Line, l.written(), l.leads())
		}
	}
	if data.BacklinkCount > 0 {
		fmt.Fprintf(&b, "\nLinked from (%d):\n", data.BacklinkCount)
		for _, l := range data.Backlinks {
			fmt.Fprintf(&b, "- %s:%d %s\n", l.Path, l.Line, oneLine(l.Title, 80))
		}
	}
	return b.String()
}

func (l Link) written() string {
	if l.Heading != "" {
		return oneLine(l.Target+"#"+l.Heading, 80)
	}
	return oneLine(l.Target, 80)
}

func (l Link) leads() string {
	switch {
	case l.Path != "":
		return l.Path
	case l.Ambiguous:
		return "(several notes have this name)"
	case path.Ext(l.Target) != "" && !isNote(l.Target):
		return "(not a note)"
	}
	return "(no such note)"
}
