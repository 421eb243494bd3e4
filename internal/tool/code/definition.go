package code

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"sibyl/internal/files"
	"sibyl/internal/tool"
)

const (
	maxDefinitions = 20 // places that are listed
	shownTexts     = 3  // of them with their text
	shownLines     = 80 // lines of one text
)

// DefinitionArgs are the arguments of code_definition.
type DefinitionArgs struct {
	Symbol string `json:"symbol" doc:"the name, alone or with its type or package: Server, http.Server, Server.Close"`
	Path   string `json:"path,omitempty" doc:"only below this folder, only this file, or only paths that match this glob"`
}

// DefinitionData is the structured result of code_definition, the likeliest first.
type DefinitionData struct {
	Symbol      string       `json:"symbol"`
	Definitions []Definition `json:"definitions"`
	Exact       bool         `json:"exact"` // false: the name is spelt differently, or belongs to another owner
}

// Definition is one place where a symbol is defined.
type Definition struct {
	Path      string   `json:"path"`
	Line      int      `json:"line"`  // where the name stands
	Start     int      `json:"start"` // with the comment above it
	End       int      `json:"end"`
	Symbol    string   `json:"symbol"`
	Kind      string   `json:"kind"`
	Signature string   `json:"signature"`
	Lines     []string `json:"lines,omitempty"` // the text from Start on, if it is given
	Hash      string   `json:"hash,omitempty"`  // of the file, with Lines
}

func (r *Root) definitionTool() tool.Tool {
	return tool.New(tool.Spec{
		Source: tool.Code, Effect: tool.Repeatable,
		Name: "code_definition",
		Description: "Finds where a function, method, type, field, constant or heading is defined, and shows the text of the likeliest " +
			"definitions. Use it when you know the name; use code_search when you don't.",
		Search: true,
	}, r.define)
}

// wanted is the symbol that is looked for.
type wanted struct {
	name   string
	owners []string // types or packages, the outermost first
	loose  bool     // case and underscores don't matter
}

func parseSymbol(symbol string) (wanted, error) {
	clean := strings.NewReplacer("(", "", ")", "", "*", "", "&", "", "`", "").Replace(strings.TrimSpace(symbol))
	parts := splitSymbol(clean)
	w := wanted{name: parts[len(parts)-1], owners: parts[:len(parts)-1]}
	if w.name == "" || len(clean) > maxPhrase {
		const hint = "give a name such as Server or http.Server"
		return w, tool.Errorf(tool.InvalidArgs, hint, "there is no symbol in %q", printable(symbol, maxPhrase))
	}
	return w, nil
}

// plain is the form in which loosely equal names are the same.
func plain(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }

func (w *wanted) is(name string) bool {
	return name == w.name || w.loose && plain(name) == plain(w.name)
}

// owned says how well the owners fit a definition's container and its file's path: 1 for each that does fully.
func (w *wanted) owned(d *candidate) float64 {
	fit := 0.0
	for _, o := range w.owners {
		if strings.EqualFold(d.container, o) {
			fit++
		} else {
			fit += hintFit(strings.ToLower(o), d.Path)
		}
	}
	return fit
}

// candidate is a definition of the right name, and what its rank depends on.
type candidate struct {
	Definition
	container string
	owned     float64
	likely    float64
}

func (r *Root) define(ctx context.Context, _ tool.Call, args DefinitionArgs) (tool.Result, error) {
	want, err := parseSymbol(args.Symbol)
	if err != nil {
		return tool.Result{}, err
	}
	sc, err := newScope(args.Path, "")
	if err != nil {
		return tool.Result{}, err
	}
	found, exact, err := r.definitions(ctx, sc, want)
	if err != nil {
		return tool.Result{}, err
	}
	found = bestOwner(found)
	data := DefinitionData{Symbol: args.Symbol, Exact: exact, Definitions: definitionsOf(found)}
	for i := range min(shownTexts, len(data.Definitions)) {
		r.addText(&data.Definitions[i])
	}
	return definitionResult(data, len(found))
}

// bestOwner keeps those whose owner fits as well as the first one's: where it fits some, the others are merely things of the same name.
func bestOwner(found []candidate) []candidate {
	for len(found) > 0 && found[len(found)-1].owned < found[0].owned {
		found = found[:len(found)-1]
	}
	return found
}

// definitionsOf are as many as are listed, without their text.
func definitionsOf(found []candidate) []Definition {
	all := make([]Definition, 0, min(len(found), maxDefinitions))
	for _, c := range found[:cap(all)] {
		all = append(all, c.Definition)
	}
	return all
}

// definitions finds what is defined by a name, the likeliest first. If nothing fits name and owner as they are
// written, it looks once more without regard to case and underscores.
func (r *Root) definitions(ctx context.Context, sc scope, want wanted) (found []candidate, exact bool, err error) {
	found, err = r.defined(ctx, sc, want)
	fits := len(found) > 0 && (found[0].owned > 0 || len(want.owners) == 0)
	if err != nil || fits || len(plain(want.name)) < 2 {
		return found, fits, err
	}
	want.loose = true
	loose, err := r.defined(ctx, sc, want)
	return loose, false, err
}

// defined finds all definitions that a name fits, the likeliest first.
func (r *Root) defined(ctx context.Context, sc scope, want wanted) ([]candidate, error) {
	var mu sync.Mutex
	var all []candidate
	mentions := want.mentions()
	_, err := r.walk(ctx, sc.start, func(f *found) {
		if !sc.holds(f.path) {
			return
		}
		content, ok := f.read()
		if !ok || !mentions(content) {
			return
		}
		src := newSource(f.path, withoutSecrets(content))
		if !want.loose && !mayDefine(src, want.name) {
			return
		}
		defs := slices.DeleteFunc(outline(src), func(d definition) bool { return !want.is(d.name) })
		mu.Lock()
		defer mu.Unlock()
		for _, d := range defs {
			all = append(all, newCandidate(src, &d, want))
		}
	})
	slices.SortFunc(all, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.owned, a.owned), cmp.Compare(b.likely, a.likely),
			strings.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line))
	})
	return slices.CompactFunc(all, func(a, b candidate) bool { return a.Path == b.Path && a.Line == b.Line }), err
}

func newCandidate(src *source, d *definition, want wanted) candidate {
	c := candidate{container: d.container, Definition: Definition{
		Path: src.path, Line: d.line, Start: d.doc, End: d.end, Symbol: d.symbol(), Kind: d.kind, Signature: src.signature(d.line),
	}}
	c.owned = want.owned(&c)
	c.likely = rankOfPath(src.path, false) * rankOfContent(src.text)
	switch d.kind {
	case "field", "section", "label", "package":
		c.likely /= 2
	}
	return c
}

// mentions makes the test that a file must pass to be worth parsing.
func (w *wanted) mentions() func(content []byte) bool {
	if !w.loose {
		return func(content []byte) bool { return bytes.Contains(content, []byte(w.name)) }
	}
	low := plain(w.name)
	scanner := newScanner([]term{{word: low, stem: low, compound: true, head: 2}})
	return func(content []byte) bool {
		found := false
		scanner.find(content, func(match) { found = true })
		return found
	}
}

// mayDefine looks at the lines that hold a name, without parsing the file: most of them plainly only use it.
func mayDefine(s *source, name string) bool {
	for at := 0; ; {
		i := bytes.Index(s.text[at:], []byte(name))
		if i < 0 {
			return false
		}
		at += i
		n := s.lineAt(at)
		switch s.lang.name {
		case "Markdown":
			return true
		case "Go":
			if mayDefineGo(bytes.TrimSpace(s.text[s.lines[n-1]:at])) {
				return true
			}
			at += len(name)
		default:
			if _, found := matchRules(s.lang.rules(), s.line(n)); found != "" {
				return true
			}
			if n == len(s.lines) {
				return false
			}
			at = s.lines[n]
		}
	}
}

// mayDefineGo judges by what stands before a name in its line.
func mayDefineGo(before []byte) bool {
	if len(before) == 0 || before[len(before)-1] == ',' {
		return true // a field, a constant of a group, a method of an interface
	}
	return slices.ContainsFunc([]string{"func", "type", "var", "const", "package"}, func(keyword string) bool {
		return bytes.HasPrefix(before, []byte(keyword))
	})
}

// signature is the line of the definition without the bracket that opens its body.
func (s *source) signature(line int) string {
	text := bytes.TrimSpace(s.line(line))
	text = bytes.TrimSpace(bytes.TrimSuffix(text, []byte("{")))
	return printable(string(text), maxShort)
}

// addText adds the text of a definition, if it still stands where it was found.
func (r *Root) addText(d *Definition) {
	content, err := r.content(d.Path)
	if err != nil {
		return
	}
	src := newSource(d.Path, content)
	if d.End > len(src.lines) || src.signature(d.Line) != d.Signature {
		return
	}
	d.Hash = files.Hash(content)
	for n := d.Start; n <= min(d.End, d.Start+shownLines-1); n++ {
		d.Lines = append(d.Lines, printable(string(src.line(n)), maxLine))
	}
}

func definitionResult(data DefinitionData, all int) (tool.Result, error) {
	res := tool.Result{Items: len(data.Definitions), Truncated: all > len(data.Definitions)}
	var b strings.Builder
	switch {
	case all == 0:
		fmt.Fprintf(&b, "No definition of %s was found. Try code_search.\n", printable(data.Symbol, maxPhrase))
	case !data.Exact:
		fmt.Fprintf(&b, "There is no definition of exactly %s; these come near.\n", printable(data.Symbol, maxPhrase))
	}
	for i := range data.Definitions {
		d := &data.Definitions[i]
		ref := tool.Ref{Source: tool.Code, Path: d.Path, Title: d.Symbol, Start: d.Start, End: d.End}
		fmt.Fprintf(&b, "%s:%d  %s %s, lines %d-%d\n", d.Path, d.Line, d.Kind, d.Symbol, d.Start, d.End)
		var text strings.Builder
		writeNumbered(&text, d.Start, d.Lines)
		switch {
		case len(d.Lines) == 0 || b.Len()+text.Len() > tool.MaxText-readReserve*maxDefinitions/2:
			d.Lines, d.Hash = nil, ""
			fmt.Fprintf(&b, "    %s\n", d.Signature)
		default:
			ref.Opened, ref.Hash, ref.End = true, d.Hash, d.Start+len(d.Lines)-1
			b.WriteString(text.String())
			if ref.End < d.End {
				fmt.Fprintf(&b, "(%s more; go on with code_read from %d)\n", tool.Count(d.End-ref.End, "line"), ref.End+1)
				res.Truncated = true
			}
		}
		res.Refs = append(res.Refs, ref)
	}
	if all > len(data.Definitions) {
		fmt.Fprintf(&b, "%d more; restrict it with path or with the type's name.\n", all-len(data.Definitions))
	}
	res.Text = b.String()
	return res.WithData(data)
}
