package code

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"go/doc"
	"path"
	"slices"
	"strings"

	"sibyl/internal/files"
	"sibyl/internal/tool"
)

const (
	maxDeclared = 200 // declarations of one file, or files of one folder, that are listed
	maxNear     = 8   // paths that end like one that does not exist
)

// OutlineArgs are the arguments of code_outline.
type OutlineArgs struct {
	Path string `json:"path" doc:"a file or folder, relative to the folder; the end of its path is enough where only one has it"`
}

// OutlineData is the structured result of code_outline: of a file its Declarations, of a folder its Files.
type OutlineData struct {
	Path         string        `json:"path"`
	Total        int           `json:"total,omitempty"` // lines of the file
	Start        int           `json:"start,omitempty"` // of Doc
	End          int           `json:"end,omitempty"`
	Doc          []string      `json:"doc,omitempty"` // the lines in which the file or the folder's package says what it is
	DocPath      string        `json:"doc_path,omitempty"`
	Declarations []Declaration `json:"declarations,omitempty"`
	Files        []string      `json:"files,omitempty"`
}

// Declaration is a named part of a file.
type Declaration struct {
	Symbol    string `json:"symbol"`
	Kind      string `json:"kind"`
	Line      int    `json:"line"`  // where its name stands
	Start     int    `json:"start"` // with the comment above it
	End       int    `json:"end"`
	Signature string `json:"signature"`
	Doc       string `json:"doc,omitempty"` // its comment's first sentence
}

func (r *Root) outlineTool() tool.Tool {
	return tool.New(tool.Spec{
		Source: tool.Code, Effect: tool.Repeatable,
		Name: "code_outline",
		Description: "Shows what a file declares, with lines and the first sentence of each comment, or which files a folder has and what its package is " +
			"for. Use it for a file or folder that is named, before reading a long file.",
	}, r.outlineOf)
}

func (r *Root) outlineOf(ctx context.Context, _ tool.Call, args OutlineArgs) (tool.Result, error) {
	clean, err := cleanPath(args.Path)
	if err != nil {
		return tool.Result{}, err
	}
	at, err := r.named(ctx, clean)
	if err != nil {
		return tool.Result{}, err
	}
	place, err := r.locate(at)
	if err != nil {
		return tool.Result{}, err
	}
	folder := place.info.IsDir()
	place.close()
	if folder {
		return r.outlineFolder(ctx, at)
	}
	content, err := r.content(at)
	if err != nil {
		return tool.Result{}, ioError(at, err)
	}
	data := declared(newSource(at, content))
	return outlineResult(data, files.Hash(content))
}

// named is the path itself if something is there, or else the one path that ends with it.
func (r *Root) named(ctx context.Context, clean string) (string, error) {
	place, err := r.locate(clean)
	if err == nil {
		place.close()
		return clean, nil
	}
	if tool.AsError(err).Kind != tool.NotFound {
		return "", err
	}
	paths, _, walked := r.files(ctx, ".")
	if walked != nil {
		return "", walked
	}
	near := endingWith(paths, clean)
	if len(near) == 0 {
		return "", err
	}
	if len(near) > 1 && strings.Count(near[0], "/") == strings.Count(near[1], "/") {
		return "", tool.Errorf(tool.NotFound, "name one of them: "+strings.Join(near[:min(len(near), maxNear)], ", "), "several paths end with %s", clean)
	}
	return near[0], nil
}

// endingWith finds the files and folders whose path ends with a path, those with the fewest folders above them first.
func endingWith(paths []string, end string) (near []string) {
	seen := map[string]bool{}
	for _, p := range paths {
		for at := p; at != "." && !seen[at]; at = path.Dir(at) {
			seen[at] = true
			if strings.HasSuffix(strings.ToLower("/"+at), strings.ToLower("/"+end)) {
				near = append(near, at)
			}
		}
	}
	slices.SortFunc(near, func(a, b string) int {
		return cmp.Or(cmp.Compare(strings.Count(a, "/"), strings.Count(b, "/")), strings.Compare(a, b))
	})
	return near
}

// declared outlines a file. Fields and single constants of a group are left out where there is more than can be listed.
func declared(s *source) OutlineData {
	data := OutlineData{Path: s.path, Total: len(s.lines)}
	defs := outline(s)
	for _, d := range defs {
		if d.kind == "package" {
			data.Start, data.End = d.doc, d.line
			continue
		}
		if d.member && len(defs) > maxDeclared {
			continue
		}
		data.Declarations = append(data.Declarations, Declaration{Symbol: d.symbol(), Kind: d.kind, Line: d.line, Start: d.doc, End: d.end,
			Signature: s.signature(d.line), Doc: s.sentence(d)})
	}
	if data.Start == 0 && s.lang.name != "Go" { // in which only what stands right above the package is about it
		data.Start, data.End = s.opening()
	}
	data.End = min(data.End, data.Start+aroundLines)
	for n := data.Start; n > 0 && n <= data.End; n++ {
		data.Doc = append(data.Doc, printable(string(s.line(n)), maxLine))
	}
	return data
}

// opening is the comment with which a file begins, but for one of lawyers; 0 if there is none.
func (s *source) opening() (start, end int) {
	for n := 1; n <= len(s.lines); n++ {
		from := n
		for n <= len(s.lines) && isComment(s.lang, s.line(n)) {
			n++
		}
		switch {
		case n > from && !holdsFolded(string(s.text[s.lines[from-1]:s.lines[n-2]])+string(s.line(n-1)), "copyright", "license", "licence"):
			return from, n - 1
		case n == from && len(bytes.TrimSpace(s.line(n))) > 0:
			return 0, 0
		}
	}
	return 0, 0
}

// sentence is the first sentence of the comment above a definition.
func (s *source) sentence(d definition) string {
	var b strings.Builder
	for n := d.doc; n < d.line && b.Len() < maxShort; n++ {
		line := strings.TrimSpace(string(s.line(n)))
		for _, mark := range s.lang.comments {
			line = strings.TrimPrefix(line, mark)
		}
		b.WriteString(strings.TrimSpace(strings.TrimSuffix(strings.TrimLeft(line, "/*#"), "*/")) + " ")
	}
	return printable(new(doc.Package).Synopsis(b.String()), maxShort)
}

// outlineFolder lists the files of a folder, and says what its package is for.
func (r *Root) outlineFolder(ctx context.Context, at string) (tool.Result, error) {
	paths, _, err := r.files(ctx, at)
	if err != nil {
		return tool.Result{}, err
	}
	data := OutlineData{Path: at}
	var sources []string
	for _, p := range paths {
		if path.Dir(p) == at {
			data.Files = append(data.Files, path.Base(p))
			sources = append(sources, p)
		} else if below := strings.TrimPrefix(p, at+"/"); at == "." || below != p {
			if name, _, _ := strings.Cut(below, "/"); !slices.Contains(data.Files, name+"/") {
				data.Files = append(data.Files, name+"/")
			}
		}
	}
	slices.SortStableFunc(sources, func(a, b string) int { return cmp.Compare(rankOfPath(b, false), rankOfPath(a, false)) })
	for _, p := range sources[:min(len(sources), docAttempts*4)] {
		content, err := r.content(p)
		if err != nil {
			continue
		}
		if file := declared(newSource(p, content)); file.Doc != nil && (len(file.Doc) > len(data.Doc) || data.Doc == nil) && languageOf(p, nil).name == "Go" {
			data.Doc, data.DocPath, data.Start, data.End = file.Doc, p, file.Start, file.End
		}
	}
	return outlineResult(data, "")
}

func outlineResult(data OutlineData, hash string) (tool.Result, error) {
	res := tool.Result{Items: 1}
	var b strings.Builder
	if data.Files != nil {
		fmt.Fprintf(&b, "%s/ has %s: %s\n", data.Path, tool.Count(len(data.Files), "entry"), strings.Join(data.Files[:min(len(data.Files), maxDeclared)], ", "))
		res.Truncated = len(data.Files) > maxDeclared
	} else {
		fmt.Fprintf(&b, "%s, %s\n", data.Path, tool.Count(data.Total, "line"))
		data.DocPath = data.Path
	}
	if len(data.Doc) > 0 {
		writeNumbered(&b, data.Start, data.Doc)
		res.Refs = append(res.Refs, tool.Ref{Source: tool.Code, Path: data.DocPath, Start: data.Start, End: data.End, Hash: hash, Opened: true})
	}
	if len(data.Declarations) > maxDeclared {
		data.Declarations, res.Truncated = data.Declarations[:maxDeclared], true
	}
	for _, d := range data.Declarations {
		line := fmt.Sprintf("%s:%d-%d  %s\n", data.Path, d.Start, d.End, d.Signature)
		if d.Doc != "" {
			line += "    " + d.Doc + "\n"
		}
		b.WriteString(line)
		res.Refs = append(res.Refs, tool.Ref{Source: tool.Code, Path: data.Path, Title: d.Symbol, Start: d.Line, End: d.Line, Hash: hash, Opened: true})
	}
	if len(res.Refs) == 0 {
		res.Refs = []tool.Ref{{Source: tool.Code, Path: data.Path, Hash: hash, Opened: true}}
	}
	res.Text = b.String()
	return res.WithData(data)
}
