package code

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"sibyl/internal/tool"
)

// folder is a line of the map.
type folder struct {
	path      string
	files     []string       // paths of the files directly in it
	languages map[string]int // of the files in it and in all folders below it
}

func (r *Root) mapFolder(ctx context.Context, at string, depth int) (tool.Result, error) {
	paths, skipped, err := r.listFiles(ctx, at)
	if err != nil {
		return tool.Result{}, err
	}
	folders := map[string]*folder{at: {path: at, languages: map[string]int{}}}
	for _, p := range paths {
		for dir := path.Dir(p); ; dir = path.Dir(dir) {
			if folders[dir] == nil {
				folders[dir] = &folder{path: dir, languages: map[string]int{}}
			}
			folders[dir].languages[languageOf(p, nil).name]++
			if dir == at {
				break
			}
		}
		in := folders[path.Dir(p)]
		in.files = append(in.files, p)
	}
	own := folders[at]
	delete(folders, at)
	tree, cut := treeOf(folders, own.depth()+depth, own.depth()+1)
	res := tool.Result{Items: len(tree), Truncated: cut || len(own.files) > maxDeclared}
	var text resultText
	readme := r.writeFolderHead(&text, own)
	for _, f := range tree {
		if err := ctx.Err(); err != nil {
			return tool.Result{}, err
		}
		text.addLine("%s", f.mapLine(r))
	}
	if cut {
		text.addLine("There are more folders: map one of them by its path.")
	}
	res.Text = text.String()
	skipped.report(&res)
	return res.WithData(MapData{ReadmePath: readme})
}

func (f *folder) depth() int {
	if f.path == "." {
		return 0
	}
	return 1 + strings.Count(f.path, "/")
}

// treeOf returns the folders down to a level, by path. If there are too many, it reduces the level, down to `least`,
// and then cuts the list.
func treeOf(folders map[string]*folder, level, least int) (tree []*folder, cut bool) {
	for ; ; level-- {
		tree = nil
		for _, f := range folders {
			if f.depth() <= level {
				tree = append(tree, f)
			}
		}
		if len(tree) <= maxFolders || level <= least {
			break
		}
		cut = true
	}
	slices.SortFunc(tree, func(a, b *folder) int {
		return slices.Compare(strings.Split(a.path, "/"), strings.Split(b.path, "/"))
	})
	return tree[:min(len(tree), maxFolders)], cut || len(tree) > maxFolders
}

var readmeName = pattern(`(?i)^readme(\.(md|markdown|rst|txt))?$`)

// writeFolderHead writes the lines about the mapped folder itself, and returns the path of its README.
func (r *Root) writeFolderHead(text *resultText, own *folder) (readme string) {
	where, files := r.name, 0
	if own.path != "." {
		where += "/" + own.path
	}
	var names, languages []string
	for _, name := range own.byCount() {
		files += own.languages[name]
		languages = append(languages, fmt.Sprintf("%s %d", name, own.languages[name]))
	}
	for _, p := range own.files {
		if names = append(names, path.Base(p)); readme == "" && readmeName().MatchString(path.Base(p)) {
			readme = p
		}
	}
	counted := strings.Join(languages[:min(len(languages), maxLanguages)], ", ")
	text.addLine("%s", strings.TrimSuffix(where+": "+tool.Count(files, "file")+": "+counted, ": "))
	if purpose := r.packageDoc(own); purpose != "" {
		text.addLine("%s", purpose)
	}
	if paragraph := firstParagraph(r.textOf(readme)); paragraph != "" {
		text.addLine("README: %s", paragraph)
	}
	if len(names) > 0 {
		text.addLine("files: %s", strings.Join(names[:min(len(names), maxDeclared)], ", "))
	}
	return readme
}

// byCount returns the languages of a folder, the most frequent first.
func (f *folder) byCount() []string {
	return slices.SortedFunc(maps.Keys(f.languages), func(a, b string) int {
		return cmp.Or(cmp.Compare(f.languages[b], f.languages[a]), strings.Compare(a, b))
	})
}

func (f *folder) mapLine(r *Root) string {
	count, most := 0, ""
	for _, name := range f.byCount() {
		count += f.languages[name]
		if most == "" && name != languages().unknown.name {
			most = ", mostly " + name
		}
	}
	line := f.path + "/ " + tool.Count(count, "file") + most
	if purpose := r.packageDoc(f); purpose != "" {
		line += ": " + purpose
	}
	return line
}

// textOf returns a file's content, or "" if it can't be read: the map then says less.
func (r *Root) textOf(clean string) string {
	s, _, err := r.source(clean)
	if err != nil {
		return ""
	}
	return string(s.text)
}

// packageDoc returns the name of the module in a folder, and the first sentence of its description in the manifest or
// in the package's comments. The files that usually hold the comment are read first.
func (r *Root) packageDoc(f *folder) string {
	module, purpose := "", ""
	var packages []string
	for _, p := range f.files {
		if line := moduleLines[path.Base(p)]; line != nil {
			text := r.textOf(p)
			if m := line().FindStringSubmatch(text); m != nil {
				module = m[1]
			}
			if m := purposeLine().FindStringSubmatch(text); m != nil {
				purpose = strings.Join(m[1:], "")
			}
		}
		if path.Base(p) == "__init__.py" || path.Ext(p) == ".go" && !isTest(p) {
			packages = append(packages, p)
		}
	}
	first := func(p string) int { return slices.Index([]string{path.Base(f.path) + ".go", "doc.go"}, path.Base(p)) }
	slices.SortStableFunc(packages, func(a, b string) int { return cmp.Compare(first(b), first(a)) })
	for _, p := range packages[:min(len(packages), docAttempts)] {
		if purpose != "" {
			break
		}
		text := r.textOf(p)
		if m := docstring().FindStringSubmatch(text); m != nil && path.Ext(p) == ".py" {
			purpose = m[1]
		}
		s := newSource(p, []byte(text))
		if start, end := s.purpose(); start > 0 && purpose == "" {
			purpose = s.sentence(definition{doc: start, line: end})
		}
	}
	if module != "" && purpose != "" {
		module += ": "
	}
	return printable(strings.TrimSpace(module+purpose), maxShort)
}

var docstring = pattern(`^(?:\s*#[^\n]*\n|\s)*[rRuU]?(?:"""|''')\s*([^\n"']+)`)

// moduleLines match the line in which a manifest names its module.
var moduleLines = map[string]func() *regexp.Regexp{
	"go.mod":         pattern(`(?m)^module\s+"?([^\s"]+)`),
	"Cargo.toml":     pattern(`(?ms)^\[package\][^\[]*?^name\s*=\s*"([^"]+)"`),
	"package.json":   pattern(`(?m)^\s*\{?\s*"name"\s*:\s*"([^"]+)"`),
	"pyproject.toml": pattern(`(?ms)^\[(?:project|tool\.poetry)\][^\[]*?^name\s*=\s*["']([^"']+)`),
	"pom.xml":        pattern(`<artifactId>([^<]+)</artifactId>`),
}

// purposeLine matches the line in which such a file describes the module.
var purposeLine = pattern(
	`(?m)^[ \t{]*(?:"description"[ \t]*:[ \t]*"([^"\n]+)|description[ \t]*=[ \t]*(?:"([^"\n]+)|'([^'\n]+))|<description>([^<\n]+))`)

// firstParagraph returns the first lines of a README that are prose: no heading, badge, picture or markup.
func firstParagraph(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		prose := line != "" && !strings.ContainsAny(line[:1], "#<[!=-`|>*_~") && strings.Contains(line, " ")
		if !prose && b.Len() > 0 || b.Len() > maxReadme {
			break
		}
		if prose {
			b.WriteString(line + " ")
		}
	}
	return printable(strings.TrimSpace(b.String()), maxReadme)
}
