package code

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"sibyl/internal/tool"
)

const maxUses = 60 // places of use that are listed

// ReferencesArgs are the arguments of code_references.
type ReferencesArgs struct {
	Symbol string `json:"symbol" doc:"the name, alone or with its type or package: Server, http.Server, Server.Close"`
	Path   string `json:"path,omitempty" doc:"only below this folder, only this file, or only paths that match this glob"`
}

// ReferencesData is the structured result of code_references. The uses are those of the name: a type of the same name's are among them.
type ReferencesData struct {
	Symbol      string       `json:"symbol"`
	Definitions []Definition `json:"definitions"` // the likeliest first, without their text
	Uses        []Use        `json:"uses"`        // code before comments, tests last
	All         int          `json:"all"`         // uses there are
}

// Use is a line that uses a name, and the definition around it.
type Use struct {
	Path    string `json:"path"`
	Line    int    `json:"line"`
	Text    string `json:"text"`
	Within  string `json:"within,omitempty"` // the symbol around the line
	Kind    string `json:"kind,omitempty"`
	Start   int    `json:"start,omitempty"` // of that symbol, with its comment
	End     int    `json:"end,omitempty"`
	Call    bool   `json:"call,omitempty"`    // a bracket follows the name
	Comment bool   `json:"comment,omitempty"` // the line is a comment

	likely float64
}

func (r *Root) referencesTool() tool.Tool {
	return tool.New(tool.Spec{
		Source: tool.Code, Effect: tool.Repeatable,
		Name: "code_references",
		Description: "Finds where a function, method, type or constant is used: each line with the function around it, beside the definitions of the name. " +
			"Use it for who calls something, or where it is used.",
		Search: true,
	}, r.references)
}

func (r *Root) references(ctx context.Context, _ tool.Call, args ReferencesArgs) (tool.Result, error) {
	want, err := parseSymbol(args.Symbol)
	if err != nil {
		return tool.Result{}, err
	}
	sc, err := newScope(args.Path, "")
	if err != nil {
		return tool.Result{}, err
	}
	found, _, err := r.definitions(ctx, scope{start: "."}, want)
	if err != nil {
		return tool.Result{}, err
	}
	if len(found) > 0 { // as it is spelt there
		want.name = found[0].Symbol[strings.LastIndexByte(found[0].Symbol, '.')+1:]
	}
	data := ReferencesData{Symbol: args.Symbol, Definitions: definitionsOf(bestOwner(found)), Uses: []Use{}}
	uses, err := r.uses(ctx, sc, want.name)
	if err != nil {
		return tool.Result{}, err
	}
	data.All = len(uses)
	data.Uses = append(data.Uses, uses[:min(len(uses), maxUses)]...)
	return referencesResult(data)
}

// uses finds all lines that use a name, the likeliest first.
func (r *Root) uses(ctx context.Context, sc scope, name string) ([]Use, error) {
	var mu sync.Mutex
	var all []Use
	_, err := r.walk(ctx, sc.start, func(f *found) {
		if !sc.holds(f.path) {
			return
		}
		content, ok := f.read()
		if !ok || !bytes.Contains(content, []byte(name)) {
			return
		}
		uses := usesIn(newSource(f.path, withoutSecrets(content)), name)
		mu.Lock()
		defer mu.Unlock()
		all = append(all, uses...)
	})
	slices.SortFunc(all, func(a, b Use) int {
		return cmp.Or(cmp.Compare(b.likely, a.likely), strings.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line))
	})
	return all, err
}

// usesIn finds the lines of a file that use a name and do not define it.
func usesIn(s *source, name string) (uses []Use) {
	var defs []definition
	last := 0
	for at := 0; ; {
		i := bytes.Index(s.text[at:], []byte(name))
		if i < 0 {
			return uses
		}
		at += i
		end := at + len(name)
		n := s.lineAt(at)
		if whole := !nameAt(s.text, at-1) && !nameAt(s.text, end); whole && n != last {
			if defs == nil {
				defs = outline(s)
			}
			if u, defines := s.use(defs, name, n, end); !defines {
				uses = append(uses, u)
			}
			last = n
		}
		at = end
	}
}

// use describes the use of a name in line n, that ends at an offset. It says so where the line defines the name.
func (s *source) use(defs []definition, name string, n, end int) (u Use, defines bool) {
	u = Use{Path: s.path, Line: n, Text: excerpt(s.line(n), 0), Comment: isComment(s.lang, s.line(n)), Call: end < len(s.text) && s.text[end] == '('}
	for _, d := range defs {
		if d.line == n && d.name == name {
			return u, true
		}
		if d.member || d.kind == "package" || n < d.doc || n > d.end {
			continue
		}
		if d.name == name && n < d.line { // its own comment
			return u, true
		}
		u.Within, u.Kind, u.Start, u.End = d.symbol(), d.kind, d.doc, d.end
	}
	u.likely = rankOfPath(s.path, false)
	if u.Comment || s.lang.name == "Markdown" {
		u.likely /= 4
	}
	if !u.Call {
		u.likely *= 0.9
	}
	return u, false
}

func nameAt(text []byte, i int) bool {
	return i >= 0 && i < len(text) && (text[i] == '_' || text[i] >= 0x80 || '0' <= text[i] && text[i] <= '9' || 'a' <= text[i]|0x20 && text[i]|0x20 <= 'z')
}

func referencesResult(data ReferencesData) (tool.Result, error) {
	res := tool.Result{Items: len(data.Uses), Truncated: data.All > len(data.Uses)}
	var b strings.Builder
	for _, d := range data.Definitions {
		fmt.Fprintf(&b, "%s:%d  defines %s %s\n    %s\n", d.Path, d.Line, d.Kind, d.Symbol, d.Signature)
		res.Refs = append(res.Refs, tool.Ref{Source: tool.Code, Path: d.Path, Title: d.Symbol, Start: d.Line, End: d.Line, Opened: true})
	}
	for _, u := range data.Uses {
		fmt.Fprintf(&b, "%s:%d", u.Path, u.Line)
		if u.Within != "" {
			fmt.Fprintf(&b, "  in %s %s", u.Kind, u.Within)
		}
		fmt.Fprintf(&b, "\n    %s\n", u.Text)
		res.Refs = append(res.Refs, tool.Ref{Source: tool.Code, Path: u.Path, Title: u.Within, Start: u.Line, End: u.Line, Opened: true})
	}
	switch {
	case len(data.Uses) == 0:
		fmt.Fprintf(&b, "No use of %s was found.\n", printable(data.Symbol, maxPhrase))
	case res.Truncated:
		fmt.Fprintf(&b, "%d more; restrict it with path.\n", data.All-len(data.Uses))
	}
	res.Text = b.String()
	return res.WithData(data)
}
