package oracle

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"sibyl/internal/agent"
	"sibyl/internal/media/document"
	"sibyl/internal/model"
	"sibyl/internal/text"
	"sibyl/internal/tool"
)

// Handed is the source of what was piped in or attached: no tool reads it.
const Handed tool.Source = "material"

// ReadParts splits a file that is handed over: into the pages of a PDF or DOCX, a picture, or a text with its lines.
// Errors begin with the name, by which the file is also cited.
func ReadParts(ctx context.Context, by *document.Reader, name string, content []byte) ([]document.Part, error) {
	if document.IsPDFOrDOCX(name) || document.MayBePDFOrDOCX(content) {
		d, err := by.Read(ctx, name, content)
		if err != nil {
			return nil, err
		}
		parts := DocumentParts(d)
		if n := len(document.JoinParts(parts)); n > MaxMaterial {
			return nil, document.Refuse(document.TooLarge, name,
				"it holds %s of text, more than the limit of %s; attach a part of it, or keep it in a folder of "+
					"notes (--vault), which is searched page by page",
				agent.Size(n), agent.Size(MaxMaterial))
		}
		return parts, nil
	}
	if pictureType(content) != "" {
		shown, err := picturePart(name, content)
		return []document.Part{shown}, err
	}
	if len(content) > MaxMaterial {
		return nil, document.Refuse(document.TooLarge, name,
			"it has %d bytes, more than the limit of %d; attach a part of it, or put it in a folder that is searched",
			len(content), MaxMaterial)
	}
	text, err := document.DecodeText(name, content)
	if err != nil {
		return nil, document.Refuse(document.Unsupported, name, "it is neither a text nor a PDF or DOCX, nor a picture")
	}
	return []document.Part{{Name: name, Text: text}}, nil
}

// DocumentParts are the pages of a document as parts, those without text included; all of it as one part, if its pages
// have no visible numbers.
func DocumentParts(d document.Document) (parts []document.Part) {
	if !d.Paged {
		return []document.Part{{Name: d.Name, Text: d.Text()}}
	}
	pages := slices.Clone(d.Pages)
	for _, number := range d.Blank {
		pages = append(pages, document.Page{Number: number})
	}
	slices.SortStableFunc(pages, func(a, b document.Page) int { return cmp.Compare(a.Number, b.Number) })
	for _, page := range pages {
		parts = append(parts, document.Part{Name: tool.Ref{Path: d.Name, Start: page.Number, Paged: true}.String(),
			Text: page.Text})
	}
	return parts
}

// uncoveredOf are the pages among parts that have no text.
func uncoveredOf(parts []document.Part) []tool.Uncovered {
	var res tool.Result
	var names []string
	blank := map[string][]int{}
	for _, p := range parts {
		if p.IsBlank() {
			name, page := p.Page()
			if blank[name] == nil {
				names = append(names, name)
			}
			blank[name] = append(blank[name], page)
		}
	}
	for _, name := range names {
		pages, n := document.BlankPages(blank[name], 1, math.MaxInt)
		res.LeaveOut(tool.NoText, n, name+" "+pages)
	}
	return res.Uncovered
}

// numberParts is the material as a model sees it, with what answers cite: numbered lines, pages, or pictures.
func numberParts(parts []document.Part) string {
	b := &strings.Builder{}
	pictures := 0
	for _, p := range parts {
		if p.Type != "" {
			pictures++
			fmt.Fprintf(b, "%s, cited as %s: picture %d above\n", p.Name, p.Name, pictures)
			continue
		}
		if p.IsBlank() {
			continue
		}
		ref := refOfPart(p)
		how := ":LINE"
		if ref.Paged {
			how = ""
		}
		fmt.Fprintf(b, "%s, cited as %s%s\n", p.Name, p.Name, how)
		for i, l := range document.Lines(p.Text) {
			if ref.Paged {
				b.WriteString("    | " + l + "\n")
			} else {
				fmt.Fprintf(b, "%4d| %s\n", i+1, l)
			}
		}
	}
	b.WriteString(tool.UncoveredText(uncoveredOf(parts)))
	return b.String()
}

// refOfPart is a whole part as a place that was read. A picture has no lines.
func refOfPart(p document.Part) tool.Ref {
	if path, page := p.Page(); page > 0 {
		return tool.Ref{Source: Handed, Path: path, Start: page, End: page, Paged: true, Opened: true}
	}
	return tool.Ref{Source: Handed, Path: p.Name, Start: min(1, p.LineCount), End: p.LineCount, Opened: true}
}

// materialSources are the parts as sources of an answer.
func (e Env) materialSources() (all []agent.Source) {
	for _, ref := range append(e.materialRefs(), readRefs(e.Carried)...) {
		all = append(all, agent.Source{Ref: ref, Cite: ref.String()})
	}
	return all
}

// materialRefs are the parts as places that were read: all but pages without text.
func (e Env) materialRefs() []tool.Ref { return readRefs(e.Parts) }

// readRefs are parts as places that were read: all but pages without text.
func readRefs(parts []document.Part) (all []tool.Ref) {
	for _, p := range parts {
		if !p.IsBlank() {
			all = append(all, refOfPart(p))
		}
	}
	return all
}

// materialNames are the names of what was handed over, each document once.
func (e Env) materialNames() (names []string) {
	for _, p := range e.Parts {
		if name := refOfPart(p).Path; name != document.Unnamed && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// mergePages joins neighbouring pages that were handed over and are not cited into one source.
func (a *Answer) mergePages() {
	kept := []agent.Source{}
	for _, s := range a.Sources {
		if n := len(kept) - 1; n >= 0 && s.Source == Handed && s.Paged && !s.Cited && !kept[n].Cited &&
			kept[n].Source == Handed && kept[n].Paged && kept[n].Path == s.Path && kept[n].End+1 == s.Start {
			kept[n].End = s.End
			kept[n].Cite = kept[n].Ref.String()
			continue
		}
		kept = append(kept, s)
	}
	a.Sources = kept
}

// passageLines is how many lines of a part are scored and shown together.
const passageLines = 20

// isAboutCarried says whether a passage of what was handed over earlier has at least half of the words of the question.
func (o offline) isAboutCarried() bool {
	if len(o.terms) == 0 {
		return false
	}
	o.sit.Material = o.sit.Carried
	return slices.ContainsFunc(o.materialPassages(), func(p passage) bool {
		return 2*p.countOf(o.terms) >= len(o.terms)
	})
}

// countOf counts the terms that a passage has.
func (p passage) countOf(terms []string) (n int) {
	for _, t := range terms {
		if p.mentions(t) {
			n++
		}
	}
	return n
}

// answerFromMaterial answers with the passages that have the most words of the question, or by describing the material.
func (o offline) answerFromMaterial() model.Response {
	passages, held := o.materialPassages(), map[int]int{} // by the first line
	for i, p := range passages {
		held[i] = p.countOf(o.terms)
	}
	var order []int
	for i := range passages {
		if held[i] > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return held[b] - held[a] })
	var places []passage
	for _, i := range order[:min(len(order), mostPlaces)] {
		places = append(places, passages[i])
	}
	if len(places) > 0 {
		return o.answerFrom(places)
	}
	b := &strings.Builder{}
	described := ""
	for _, p := range o.sit.Material {
		if path := refOfPart(p).Path; path != described { // of a document, the first page is enough
			describePart(p, b)
			described = path
		}
	}
	return finalReply(strings.TrimSpace(b.String())+"\n",
		signalXML("partial_answer", 0.6, fieldXML("missing", "a language model to explain it")))
}

// materialPassages are the passages of the material, in order; in a diff, each hunk begins a new one.
func (o offline) materialPassages() (all []passage) {
	for _, p := range o.sit.Material {
		lines, ref := document.Lines(p.Text), refOfPart(p)
		for at := 0; at < len(lines); {
			end := at + 1
			for end < len(lines) && end-at < passageLines && !strings.HasPrefix(lines[end], "@@ ") &&
				!strings.HasPrefix(lines[end], "diff --git ") {
				end++
			}
			q := passage{source: Handed, path: ref.Path, from: at + 1, to: end, lines: lines[at:end]}
			if ref.Paged {
				q.from, q.to, q.paged = ref.Start, ref.End, true
			}
			all = append(all, q)
			at = end
		}
	}
	return all
}

// describePart describes a part: the files that a diff changes, or the beginning of another text.
func describePart(p document.Part, b *strings.Builder) {
	lines := document.Lines(p.Text)
	var files []string
	from, plus, minus := 0, 0, 0
	name := ""
	endFile := func(at int) {
		if name != "" {
			files = append(files, fmt.Sprintf("- `%s:%d-%d` %s: %s added, %s removed", p.Name, from, at, name,
				text.Count(plus, "line"), text.Count(minus, "line")))
		}
		name, plus, minus = "", 0, 0
	}
	for i, l := range lines {
		switch {
		case strings.HasPrefix(l, "diff --git "):
			endFile(i)
			from, name = i+1, l[strings.LastIndex(l, " b/")+1:]
			name = strings.TrimPrefix(name, "b/")
		case strings.HasPrefix(l, "+") && !strings.HasPrefix(l, "+++ "):
			plus++
		case strings.HasPrefix(l, "-") && !strings.HasPrefix(l, "--- "):
			minus++
		}
	}
	endFile(len(lines))
	if len(files) > 0 {
		fmt.Fprintf(b, "\n**%s** is a diff of %s; no language model is in use to explain it:\n\n%s\n", p.Name,
			text.Count(len(files), "file"), strings.Join(files, "\n"))
		return
	}
	shown := min(len(lines), passageLines)
	if shown == 0 {
		return
	}
	q, has := passage{path: p.Name, from: 1, to: shown, lines: lines[:shown]}, "has "+text.Count(len(lines), "line")
	if ref := refOfPart(p); ref.Paged {
		q.path, q.from, q.to, q.paged, has = ref.Path, ref.Start, ref.End, true, "is a document"
		q = q.excerpt(answerRows-leastRows, sought{})
	}
	fmt.Fprintf(b, "\n**%s** %s; no language model is in use to explain it. It begins, `%s`:\n\n%s\n", q.path, has,
		q.cite(), q.fenced())
}
