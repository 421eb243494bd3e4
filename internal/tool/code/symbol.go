package code

import (
	"bytes"
	"cmp"
	"context"
	"iter"
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
	shownBytes     = 8 << 10
	maxUses        = 40 // lines that are listed
)

// SymbolArgs are the arguments of code_symbol.
type SymbolArgs struct {
	Symbol string `json:"symbol" doc:"the name, alone or with its type"`
	Path   string `json:"path,omitempty" doc:"folder, file or glob"`
}

func (r *Root) symbolTool() tool.Tool {
	return tool.New(tool.Spec{
		Source: tool.Code, Effect: tool.Repeatable,
		Name: "code_symbol",
		Description: "Finds where a function, type, field or heading is defined, with its text, and each line that uses " +
			"it.",
		Search: true,
	}, r.findSymbol)
}

// wantedSymbol is the symbol that is looked for.
type wantedSymbol struct {
	name   string
	owners []string // types or packages, the outermost first
	loose  *scanner // finds the name without regard to case and underscores; nil: the name is matched exactly
}

func parseSymbol(symbol string) (wantedSymbol, error) {
	clean := strings.NewReplacer("(", "", ")", "", "*", "", "&", "", "`", "").Replace(strings.TrimSpace(symbol))
	parts := splitSymbol(clean)
	w := wantedSymbol{name: parts[len(parts)-1], owners: parts[:len(parts)-1]}
	if w.name == "" || len(clean) > maxPhrase {
		const hint = "give a name such as Server or http.Server"
		return w, tool.Errorf(tool.InvalidArgs, hint, "there is no symbol in %q", printable(symbol, maxPhrase))
	}
	return w, nil
}

// looseName returns a name in lower case without underscores.
func looseName(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }

func (w *wantedSymbol) isName(name string) bool {
	return name == w.name || w.loose != nil && looseName(name) == looseName(w.name)
}

// ownerFit returns how well the owners fit a definition's container and its file's path: 1 for each that fits fully.
func (w *wantedSymbol) ownerFit(d *definition, at string) float64 {
	fit := 0.0
	for _, o := range w.owners {
		if strings.EqualFold(d.container, o) {
			fit++
		} else {
			fit += hintFit(strings.ToLower(o), at)
		}
	}
	return fit
}

// eachMention emits the places where the name is a whole word of a text.
func (w *wantedSymbol) eachMention(text []byte, emit func(start, end int)) {
	whole := func(start, end int) {
		if w.isName(string(text[start:end])) && !isNameByte(text, start-1) && !isNameByte(text, end) {
			emit(start, end)
		}
	}
	if w.loose != nil {
		w.loose.find(text, func(m match) { whole(m.start, m.end) })
		return
	}
	for at := 0; ; {
		i := bytes.Index(text[at:], []byte(w.name))
		if i < 0 {
			return
		}
		whole(at+i, at+i+len(w.name))
		at += i + len(w.name)
	}
}

func isNameByte(text []byte, i int) bool {
	return i >= 0 && i < len(text) && (text[i] >= 0x80 || isNameRune(rune(text[i])))
}

// mention is a line that defines a symbol or uses its name.
type mention struct {
	path       string
	line       int
	text       string
	name       string      // as it is written here
	def        *definition // what the line defines; for a use, the definition around it, or nil
	lines      []string    // of a definition, from its comment on, as many as are shown
	hash       string      // of the file of a definition
	fit        float64     // of the owners
	likelihood float64
}

func compareMentions(a, b mention) int {
	return cmp.Or(cmp.Compare(b.fit, a.fit), cmp.Compare(b.likelihood, a.likelihood),
		strings.Compare(a.path, b.path), cmp.Compare(a.line, b.line))
}

// mentions are the mentions of a symbol, the likeliest first.
type mentions struct {
	definitions, uses []mention
	skipped           skipped
}

// findMentions finds the mentions of a symbol in one walk.
func (r *Root) findMentions(ctx context.Context, sc scope, want wantedSymbol) (all mentions, err error) {
	var mu sync.Mutex
	all.skipped, err = r.walk(ctx, sc, func(at string, pieces iter.Seq[piece]) {
		for p := range pieces {
			mentioned := false
			want.eachMention(p.text, func(int, int) { mentioned = true })
			if !mentioned {
				continue
			}
			definitions, uses := p.source(at).findMentions(want)
			for i := range definitions {
				if p.raw != nil {
					definitions[i].hash = files.Hash(p.raw)
				}
			}
			mu.Lock()
			all.definitions, all.uses = append(all.definitions, definitions...), append(all.uses, uses...)
			mu.Unlock()
		}
	})
	slices.SortFunc(all.definitions, compareMentions)
	slices.SortFunc(all.uses, compareMentions)
	return all, err
}

// findMentions finds the lines of a file that define a symbol or use its name.
func (s *source) findMentions(want wantedSymbol) (definitions, uses []mention) {
	defs, rank := outline(s), rankOfPath(s.path, false)*rankOfContent(s.text)
	around, own := make([]*definition, len(s.lines)+1), make([]bool, len(s.lines)+1) // by line
	for i := range defs {
		d := &defs[i]
		for line := d.doc; line <= d.end && !d.member && d.kind != "package"; line++ {
			around[line] = d
		}
		if !want.isName(d.name) || own[d.line] {
			continue
		}
		for line := d.doc; line <= d.line; line++ { // with its own comment
			own[line] = true
		}
		p := mention{path: s.path, line: d.line, text: s.signature(d.line), name: d.name, def: d, likelihood: rank}
		p.lines, p.fit = s.firstLines(d), want.ownerFit(d, s.path)
		switch d.kind {
		case "field", "section", "label", "package":
			p.likelihood /= 2
		}
		definitions = append(definitions, p)
	}
	want.eachMention(s.text, func(start, end int) {
		n := s.lineAt(start)
		if own[n] {
			return
		}
		own[n] = true // once is enough
		p := mention{path: s.path, line: n, name: string(s.text[start:end]), def: around[n], likelihood: rank}
		p.text = excerpt(s.line(n), start-s.lines[n-1])
		if isComment(s.lang, s.line(n)) || s.lang.name == "Markdown" {
			p.likelihood /= 4
		}
		if end == len(s.text) || s.text[end] != '(' {
			p.likelihood *= 0.9 // calls first
		}
		uses = append(uses, p)
	})
	if s.before > 0 {
		for i := range defs {
			defs[i].doc, defs[i].line, defs[i].end = defs[i].doc+s.before, defs[i].line+s.before, defs[i].end+s.before
		}
		for _, list := range [][]mention{definitions, uses} {
			for i := range list {
				list[i].line += s.before
			}
		}
	}
	return definitions, uses
}

// findSymbol finds a name as it is written. If no definition fits name and owner, it looks again without regard to case
// and underscores. If the owner fits some definitions better, the others are left out.
func (r *Root) findSymbol(ctx context.Context, _ tool.Call, args SymbolArgs) (tool.Result, error) {
	want, err := parseSymbol(args.Symbol)
	if err != nil {
		return tool.Result{}, err
	}
	sc, err := newScope(args.Path)
	if err != nil {
		return tool.Result{}, err
	}
	all, err := r.findMentions(ctx, sc, want)
	exact := len(all.definitions) > 0 && (all.definitions[0].fit > 0 || len(want.owners) == 0)
	if low := looseName(want.name); err == nil && !exact && len(low) > 1 {
		var loose mentions
		want.loose = newScanner([]term{{word: low, stem: low, isCompound: true}})
		if loose, err = r.findMentions(ctx, sc, want); len(loose.definitions) > 0 {
			all = loose
			all.uses = slices.DeleteFunc(all.uses, func(p mention) bool { return p.name != all.definitions[0].name })
		}
	}
	if err != nil {
		return tool.Result{}, err
	}
	all.definitions = slices.DeleteFunc(all.definitions, func(p mention) bool { return p.fit < all.definitions[0].fit })
	return symbolResult(printable(args.Symbol, maxPhrase), all, exact), nil
}

func symbolResult(symbol string, all mentions, exact bool) tool.Result {
	res := tool.Result{Items: len(all.definitions) + len(all.uses)}
	var text resultText
	switch {
	case len(all.definitions) == 0:
		text.addLine("No definition of %s was found. Try code_search.", symbol)
	case !exact:
		text.addLine("There is no definition of exactly %s; these come near.", symbol)
	}
	for i, p := range all.definitions[:min(len(all.definitions), maxDefinitions)] {
		ref := tool.Ref{Source: tool.Code, Path: p.path, Title: p.def.symbol(), Start: p.line, End: p.line,
			Opened: true}
		text.addLine("%s:%d  %s %s, lines %d-%d", p.path, p.line, p.def.kind, ref.Title, p.def.doc, p.def.end)
		if i < shownTexts {
			writeNumbered(&text.Builder, p.def.doc, p.lines)
			ref.Start, ref.End, ref.Hash = p.def.doc, p.def.doc+len(p.lines)-1, p.hash
		} else {
			text.addLine("    %s", p.text)
		}
		if left := p.def.end - ref.End; left > 0 && i < shownTexts {
			text.addLine("(%s more; go on with code_read from %d)", tool.Count(left, "line"), ref.End+1)
			res.Truncated = true
		}
		res.Refs = append(res.Refs, ref)
	}
	if left := len(all.definitions) - maxDefinitions; left > 0 {
		text.addLine("%d more; restrict it with path or with the type's name.", left)
		res.Truncated = true
	}
	if len(all.uses) > 0 {
		text.addLine("Used in:")
	}
	for _, p := range all.uses[:min(len(all.uses), maxUses)] {
		ref := tool.Ref{Source: tool.Code, Path: p.path, Start: p.line, End: p.line, Opened: true}
		within := ""
		if p.def != nil {
			ref.Title = p.def.symbol()
			within = "  in " + p.def.kind + " " + ref.Title
		}
		if text.addLine("%s:%d%s\n    %s", p.path, p.line, within, p.text) {
			res.Refs = append(res.Refs, ref)
		}
	}
	if left := len(all.uses) - maxUses; left > 0 {
		text.addLine("%d more; restrict it with path.", left)
		res.Truncated = true
	}
	res.Text, res.Truncated = text.String(), res.Truncated || text.full
	all.skipped.report(&res)
	return res
}

func (s *source) firstLines(d *definition) (lines []string) {
	size := 0
	for n := d.doc; n <= min(d.end, d.doc+shownLines-1) && size < shownBytes; n++ {
		lines = append(lines, printable(string(s.line(n)), maxLine))
		size += len(lines[len(lines)-1])
	}
	return lines
}

// signature returns the line of a definition without the bracket that opens its body.
func (s *source) signature(line int) string {
	text := bytes.TrimSpace(s.line(line))
	text = bytes.TrimSpace(bytes.TrimSuffix(text, []byte("{")))
	return printable(string(text), maxShort)
}
