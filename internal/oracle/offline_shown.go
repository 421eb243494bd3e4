package oracle

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"sibyl/internal/agent"
	"sibyl/internal/model"
	"sibyl/internal/tool"
)

const (
	mostListed      = 12 // places of a list in an answer
	mostUsers       = 3  // definitions that use something, of which the text is shown
	mostDefinitions = 3  // of one name
	mostPatched     = 40 // lines of a patch in an answer
)

// place is a definition as tools of code give it.
type place struct {
	Path      string `json:"path"`
	Line      int    `json:"line"`
	Start     int    `json:"start"`
	End       int    `json:"end"`
	Symbol    string `json:"symbol"`
	Kind      string `json:"kind"`
	Signature string `json:"signature"`
	Doc       string `json:"doc"`
}

// located is what code_definition gives.
type located struct {
	Definitions []place `json:"definitions"`
}

// usesFound is what code_references gives.
type usesFound struct {
	located
	Uses []use `json:"uses"`
	All  int   `json:"all"`
}

// use is a definition that uses something, by the first line that does.
type use struct {
	Path   string `json:"path"`
	Line   int    `json:"line"`
	Text   string `json:"text"`
	Within string `json:"within"`
	Start  int    `json:"start"`
	End    int    `json:"end"`
	more   int    // lines in the same definition
}

// users are the uses by the definition around them, in their order.
func (u usesFound) users() (all []use) {
	for _, one := range u.Uses {
		same := func(o use) bool { return one.Within != "" && o.Within == one.Within && o.Path == one.Path }
		if at := slices.IndexFunc(all, same); at >= 0 {
			all[at].more++
		} else {
			all = append(all, one)
		}
	}
	return all
}

// text lists the uses, those of which the text was read first, with it, and names the definitions.
func (u usesFound) text(symbol string, read []quote) string {
	b := &strings.Builder{}
	if len(u.Uses) == 0 {
		fmt.Fprintf(b, "Nothing here uses %s.\n", symbol)
	} else {
		uses := "use"
		if u.All == 1 {
			uses = "uses"
		}
		fmt.Fprintf(b, "%s %s %s:\n\n", agent.Counted(u.All, "place"), uses, symbol)
	}
	users := u.users()
	shown := slices.DeleteFunc(slices.Clone(read), func(q quote) bool {
		return q.source != tool.Code || !slices.ContainsFunc(users, func(o use) bool { return o.in(q) })
	})
	known := min(len(users), len(shown))
	listUses(b, users[:known])
	for _, q := range shown {
		fmt.Fprintf(b, "\n`%s`:\n\n%s\n", q.cite(), q.fenced())
	}
	if rest := users[known:]; len(rest) > 0 {
		if known > 0 {
			b.WriteString("\nAnd:\n\n")
		}
		listUses(b, rest[:min(len(rest), mostListed)])
		if left := len(rest) - mostListed; left > 0 {
			fmt.Fprintf(b, "- and %d more\n", left)
		}
	}
	for i, d := range u.Definitions[:min(len(u.Definitions), mostDefinitions)] {
		if i == 0 {
			b.WriteString("\nDefined here:\n\n")
		}
		fmt.Fprintf(b, "- `%s:%d` %s\n", d.Path, d.Line, spanCode(d.Signature))
	}
	return b.String()
}

// in says whether a passage shows a use.
func (u use) in(q quote) bool { return q.path == u.Path && q.from <= u.Line && u.Line <= q.to }

func listUses(b *strings.Builder, users []use) {
	for _, u := range users {
		fmt.Fprintf(b, "- `%s:%d`", u.Path, u.Line)
		if u.Within != "" {
			fmt.Fprintf(b, " in **%s**", u.Within)
		}
		fmt.Fprintf(b, ": %s", spanCode(u.Text))
		if u.more > 0 {
			fmt.Fprintf(b, " and %s below", agent.Counted(u.more, "line"))
		}
		b.WriteString("\n")
	}
}

// spanCode is a line as code in Markdown, whatever marks it holds.
func spanCode(line string) string {
	marks := "`"
	for strings.Contains(line, marks) {
		marks += "`"
	}
	if len(marks) > 1 {
		line = " " + line + " "
	}
	return marks + line + marks
}

// outlined is what code_outline gives.
type outlined struct {
	Path         string   `json:"path"`
	Total        int      `json:"total"`
	Start        int      `json:"start"`
	End          int      `json:"end"`
	Doc          []string `json:"doc"`
	DocPath      string   `json:"doc_path"`
	Declarations []place  `json:"declarations"`
	Files        []string `json:"files"`
}

// text shows the declarations of some kinds; all but fields, where kinds is nil or none is of them. Passages stand before them.
func (d outlined) text(kinds map[string]bool, read []quote) string {
	b := &strings.Builder{}
	wanted := slices.DeleteFunc(slices.Clone(d.Declarations), func(p place) bool { return !kinds[p.Kind] })
	if len(wanted) == 0 {
		wanted, kinds = slices.DeleteFunc(slices.Clone(d.Declarations), func(p place) bool { return p.Kind == "field" }), nil
	}
	if d.Files != nil {
		fmt.Fprintf(b, "**%s/** has %s: %s\n", d.Path, agent.Counted(len(d.Files), "file or folder"), strings.Join(d.Files, ", "))
	} else {
		fmt.Fprintf(b, "**%s** has %s and %s:\n", d.Path, agent.Counted(d.Total, "line"), agent.Counted(len(wanted), "declaration"))
	}
	for _, q := range read {
		q.show(b)
	}
	q := quote{path: d.DocPath, from: d.Start, to: d.End, lines: d.Doc}
	shown := slices.ContainsFunc(read, func(r quote) bool { return r.path == q.path && r.from <= q.from && q.to <= r.to })
	if len(d.Doc) > 0 && kinds == nil && !shown {
		fmt.Fprintf(b, "\n`%s`:\n\n%s\n", q.cite(), q.fenced())
	}
	b.WriteString("\n")
	for _, p := range wanted {
		fmt.Fprintf(b, "- `%s:%d` %s", d.Path, p.Line, spanCode(p.Signature))
		if p.Doc != "" {
			b.WriteString(" " + p.Doc)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// show writes a passage, with its place before it; a long one in two parts.
func (q quote) show(b *strings.Builder) {
	if q.head != nil {
		b.WriteString("\n`" + q.head.cite() + "`:\n\n" + q.head.fenced() + "\n\n…\n")
	}
	b.WriteString("\n`" + q.cite() + "`:\n\n" + q.fenced() + "\n")
}

// mapped is what repo_map gives.
type mapped struct {
	Name       string `json:"name"`
	Readme     string `json:"readme"`
	ReadmePath string `json:"readme_path"`
	Folders    []struct {
		Path string `json:"path"`
		Doc  string `json:"doc"`
	} `json:"folders"`
	Modules []struct {
		Path string `json:"path"`
		Name string `json:"name"`
		Doc  string `json:"doc"`
		Line int    `json:"line"`
	} `json:"modules"`
}

// aboutProject quotes how the README begins, or else what the modules say they are for, and tells what the packages do.
func (o offline) aboutProject(m mapped) (model.Response, bool) {
	b := &strings.Builder{}
	found := 0
	for _, q := range o.read() {
		if q.path == m.ReadmePath && q.source == tool.Code {
			opening := q.opening()
			fmt.Fprintf(b, "\n`%s`:\n\n%s\n", opening.cite(), opening.fenced())
			found++
			break
		}
	}
	if d, ok := first[outlined](o, outlineTool); ok && len(d.Doc) > 0 && d.DocPath != "" {
		q := quote{path: d.DocPath, from: d.Start, to: d.End, lines: d.Doc}
		fmt.Fprintf(b, "\n`%s`:\n\n%s\n", q.cite(), q.fenced())
		found++
	}
	for _, module := range m.Modules {
		if m.ReadmePath == "" && module.Doc != "" && found < mostListed {
			fmt.Fprintf(b, "\n`%s:%d` **%s**: %s\n", module.Path, module.Line, module.Name, module.Doc)
			found++
		}
	}
	told := 0
	for _, f := range m.Folders {
		if f.Doc != "" && told < mostListed {
			if told++; told == 1 {
				b.WriteString("\nIts packages:\n\n")
			}
			fmt.Fprintf(b, "- **%s**: %s\n", f.Path, f.Doc)
		}
	}
	switch {
	case found == 0 && told == 0:
		return model.Response{}, false
	case found == 0: // what the packages say stands in lines that were not read
		return say(strings.TrimSpace(b.String())+"\n", sig("partial_answer", 0.6, field("missing", "a README, or a description of the whole"))), true
	}
	return say(strings.TrimSpace(b.String())+"\n", sig("context_sufficient", 0.7, field("sources_found", strconv.Itoa(found)), list("source_types", []string{string(tool.Code)}))), true
}

// opening is how a README begins: its title, and the first paragraphs below it.
func (q quote) opening() quote {
	prose := 0
	for i, l := range q.lines {
		l = strings.TrimSpace(l)
		if l != "" && !strings.ContainsAny(l[:1], "#<[!=-|") {
			prose++
		}
		if prose >= 3 && (l == "" || strings.HasPrefix(l, "#")) && i >= 8 || i+1 == wholeLines {
			return q.part(0, i)
		}
	}
	return q.part(0, len(q.lines))
}

// told is what code_history gives.
type told struct {
	What    string      `json:"what"`
	Commits []committed `json:"commits"`
	Changes []changed   `json:"changes"`
	Path    string      `json:"path"`
	Lines   []struct {
		Line    int    `json:"line"`
		Hash    string `json:"hash"`
		Author  string `json:"author"`
		Date    string `json:"date"`
		Subject string `json:"subject"`
		Text    string `json:"text"`
	} `json:"lines"`
}

type committed struct {
	Hash    string    `json:"hash"`
	Author  string    `json:"author"`
	Date    string    `json:"date"`
	Subject string    `json:"subject"`
	Body    string    `json:"body"`
	Changes []changed `json:"changes"`
}

type changed struct {
	Status string   `json:"status"`
	Path   string   `json:"path"`
	Patch  []string `json:"patch"`
}

// historyAnswer tells what the history holds; a folder without one says so.
func (o offline) historyAnswer() (model.Response, bool) {
	b := &strings.Builder{}
	found := 0
	for _, r := range o.asked(historyTool) {
		var d told
		if r.Error != nil {
			return say("I can't tell: "+r.Error.Message+".\n", sig("partial_answer", 0.8, field("missing", "a history that can be read"))), true
		}
		if r.Result == nil || json.Unmarshal(r.Result.Data, &d) != nil {
			continue
		}
		found += len(d.Commits) + len(d.Changes) + len(d.Lines)
		d.write(b)
	}
	if found == 0 {
		return say(strings.TrimSpace(b.String())+"\nNo commit mentions it.\n", sig("partial_answer", 0.6, field("missing", "a commit that mentions it"))), true
	}
	return say(strings.TrimSpace(b.String())+"\n", sig("context_sufficient", 0.7, field("sources_found", strconv.Itoa(found)), list("source_types", []string{string(tool.Code)}))), true
}

func (d told) write(b *strings.Builder) {
	switch d.What {
	case "blame":
		for _, l := range d.Lines {
			if l.Hash == "" {
				fmt.Fprintf(b, "- `%s:%d` is not committed yet: %s\n", d.Path, l.Line, spanCode(l.Text))
				continue
			}
			fmt.Fprintf(b, "- `%s:%d` was last changed by %s on %s in `git:%s` (%s): %s\n", d.Path, l.Line, l.Author, l.Date, l.Hash, l.Subject, spanCode(l.Text))
		}
	case "diff":
		if len(d.Changes) == 0 {
			b.WriteString("\nNothing has changed since the last commit.\n")
			return
		}
		if len(d.Commits) == 0 {
			fmt.Fprintf(b, "\nNot committed yet, in %s:\n\n", agent.Counted(len(d.Changes), "file"))
		}
		lines := 0
		for _, c := range d.Changes {
			fmt.Fprintf(b, "- %s `%s`\n", c.Status, c.Path)
			if lines += len(c.Patch); lines <= mostPatched && len(c.Patch) > 0 {
				fmt.Fprintf(b, "\n%s\n\n", quote{lines: c.Patch}.fenced())
			}
		}
	default:
		for _, c := range d.Commits {
			fmt.Fprintf(b, "- %s `git:%s` %s (%s)\n", c.Date, c.Hash, c.Subject, c.Author)
		}
	}
}
