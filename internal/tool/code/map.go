package code

import (
	"bytes"
	"context"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strings"

	"sibyl/internal/tool"
)

const (
	maxFolders   = 120 // folders that are listed
	maxDeclared  = 200 // declarations of a file, or files of a folder, that are listed
	maxLanguages = 8   // of a folder that are named
	maxNear      = 8   // paths that end like one that does not exist
	maxReadme    = 800 // bytes of the README's first paragraph
	docAttempts  = 5   // files of a package that are read for its description
)

// MapArgs are the arguments of repo_map.
type MapArgs struct {
	Path  string `json:"path,omitempty" doc:"folder or file"`
	Depth int    `json:"depth,omitempty" min:"1" max:"8" default:"2"`
}

// MapData is the structured result of repo_map.
type MapData struct {
	ReadmePath string `json:"readme_path,omitempty"` // of the README in the mapped folder
}

func (r *Root) mapTool() tool.Tool {
	return tool.New(tool.Spec{
		Source: tool.Code, Effect: tool.Repeatable,
		Name:        "repo_map",
		Description: "Shows how a folder is built (files, languages, the README), or what a file declares, with lines.",
	}, r.mapPath)
}

func (r *Root) mapPath(ctx context.Context, _ tool.Call, args MapArgs) (tool.Result, error) {
	clean, err := cleanPath(args.Path)
	if err != nil {
		return tool.Result{}, err
	}
	at, folder, err := r.findPath(ctx, clean)
	if err != nil {
		return tool.Result{}, err
	}
	if folder {
		return r.mapFolder(ctx, at, args.Depth)
	}
	s, hash, err := r.source(at)
	if err != nil {
		return tool.Result{}, err
	}
	return mapFile(s, hash), nil
}

// findPath returns the path itself if it exists, or else the only path that ends with it.
func (r *Root) findPath(ctx context.Context, clean string) (at string, folder bool, err error) {
	place, err := r.locate(clean)
	if err == nil {
		defer place.close()
		return clean, place.info.IsDir(), nil
	}
	if tool.AsError(err).Kind != tool.NotFound {
		return "", false, err
	}
	paths, _, walkErr := r.listFiles(ctx, ".")
	var near []string
	for _, p := range paths {
		for at := p; at != "."; at = path.Dir(at) {
			if strings.HasSuffix(strings.ToLower("/"+at), strings.ToLower("/"+clean)) && !slices.Contains(near, at) {
				near = append(near, at)
			}
		}
	}
	switch {
	case walkErr != nil:
		return "", false, walkErr
	case len(near) == 1:
		return near[0], !slices.Contains(paths, near[0]), nil
	case len(near) > 1:
		hint := "name one of them: " + strings.Join(near[:min(len(near), maxNear)], ", ")
		return "", false, tool.Errorf(tool.NotFound, hint, "several paths end with %s", clean)
	}
	return "", false, err
}

// listFiles lists the files below a folder, sorted.
func (r *Root) listFiles(ctx context.Context, start string) (all []string, _ skipped, _ error) {
	passed, err := r.list(ctx, start, func(at string, _ fs.FileInfo) { all = append(all, at) })
	slices.Sort(all)
	return all, passed, err
}

// mapFile lists the declarations of a file. If they are too many, it leaves out fields and constants of groups.
func mapFile(s *source, hash string) tool.Result {
	res := tool.Result{Items: 1}
	var text resultText
	text.addLine("%s, %s", s.path, tool.Count(len(s.lines), "line"))
	ref := func(title string, start, end int) {
		res.Refs = append(res.Refs, tool.Ref{Source: tool.Code, Path: s.path, Title: title, Start: start, End: end,
			Hash: hash, Opened: true})
	}
	if start, end := s.purpose(); start > 0 {
		var lines []string
		for n := start; n <= min(end, start+aroundLines); n++ {
			lines = append(lines, printable(string(s.line(n)), maxLine))
		}
		writeNumbered(&text.Builder, start, lines)
		ref("", start, start+len(lines)-1)
	}
	listed, defs := 0, outline(s)
	for _, d := range defs {
		if d.kind == "package" || d.member && len(defs) > maxDeclared {
			continue
		}
		if listed++; listed > maxDeclared || !text.addLine("%s:%d-%d  %s", s.path, d.doc, d.end, s.signature(d.line)) {
			res.Truncated = true
			break
		}
		if sentence := s.sentence(d); sentence != "" {
			text.addLine("    %s", sentence)
		}
		ref(d.symbol(), d.line, d.line)
	}
	if res.Refs == nil {
		ref("", 0, 0)
	}
	res.Text = text.String()
	return res
}

// purpose returns the lines of the comment that says what a file is for: in Go the one right above the package clause,
// or else the first one at the top that is no licence; 0 if there is none.
func (s *source) purpose() (start, end int) {
	if s.lang.name == "Go" {
		files := token.NewFileSet()
		tree, err := parser.ParseFile(files, "", s.text, parser.ParseComments|parser.PackageClauseOnly)
		if err != nil || tree.Doc == nil {
			return 0, 0
		}
		return files.PositionFor(tree.Doc.Pos(), false).Line, files.PositionFor(tree.Package, false).Line
	}
	for n := 1; n <= len(s.lines); n++ {
		from := n
		for n <= len(s.lines) && isComment(s.lang, s.line(n)) {
			n++
		}
		switch {
		case n > from && !holdsFolded(s.textOfLines(from, n-1), "copyright", "license", "licence"):
			return from, n - 1
		case n == from && len(bytes.TrimSpace(s.line(n))) > 0:
			return 0, 0
		}
	}
	return 0, 0
}

// sentence returns the first sentence of the comment above a definition.
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
