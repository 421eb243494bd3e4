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
	paths, skipped, err := r.files(ctx, at)
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
	tree, cut := treeOf(folders, own.level()+depth, own.level()+1)
	res := tool.Result{Items: len(tree), Truncated: cut || len(own.files) > maxDeclared}
	var text page
	readme := r.describe(&text, own)
	for _, f := range append([]*folder{own}, tree...) {
		for _, p := range f.files {
			if rankOfPath(p, true) >= exampleRank*plainRank {
				res.Refs = append(res.Refs, r.module(&text, p)...)
			}
		}
	}
	for _, f := range tree {
		if err := ctx.Err(); err != nil {
			return tool.Result{}, err
		}
		text.add("%s", f.line(r))
	}
	if cut {
		text.add("There are more folders: map one of them by its path.")
	}
	res.Text = text.String()
	skipped.tell(&res)
	return res.WithData(MapData{ReadmePath: readme})
}

// level is how many folders deep a folder lies, itself among them.
func (f *folder) level() int {
	if f.path == "." {
		return 0
	}
	return 1 + strings.Count(f.path, "/")
}

// treeOf gives the folders down to a level, by path. If they are too many, the tree is made less deep, down to another level, and cut off only where that
// is not enough.
func treeOf(folders map[string]*folder, level, least int) (tree []*folder, cut bool) {
	for ; ; level-- {
		tree = nil
		for _, f := range folders {
			if f.level() <= level {
				tree = append(tree, f)
			}
		}
		if len(tree) <= maxFolders || level <= least {
			break
		}
		cut = true
	}
	slices.SortFunc(tree, func(a, b *folder) int { return slices.Compare(strings.Split(a.path, "/"), strings.Split(b.path, "/")) })
	return tree[:min(len(tree), maxFolders)], cut || len(tree) > maxFolders
}

var readmeName = pattern(`(?i)^readme(\.(md|markdown|rst|txt))?$`)

// describe writes what is said of the mapped folder itself, and gives the path of its README.
func (r *Root) describe(text *page, own *folder) (readme string) {
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
	counted := strings.Join(languages[:min(len(languages), mostLanguages)], ", ")
	text.add("%s", strings.TrimSuffix(where+": "+tool.Count(files, "file")+": "+counted, ": "))
	for what, said := range []string{r.packageDoc(own), firstParagraph(r.text(readme)), strings.Join(names[:min(len(names), maxDeclared)], ", ")} {
		if said != "" {
			text.add("%s%s", []string{"", "README: ", "files: "}[what], said)
		}
	}
	return readme
}

// byCount gives the languages of a folder, the most frequent first.
func (f *folder) byCount() []string {
	return slices.SortedFunc(maps.Keys(f.languages), func(a, b string) int {
		return cmp.Or(cmp.Compare(f.languages[b], f.languages[a]), strings.Compare(a, b))
	})
}

// line is what the map says of a folder.
func (f *folder) line(r *Root) string {
	count, most := 0, ""
	for _, name := range f.byCount() {
		count += f.languages[name]
		if most == "" && name != languages().unknown.name {
			most = ", mostly " + name
		}
	}
	line := f.path + "/ " + tool.Count(count, "file") + most
	if said := r.packageDoc(f); said != "" {
		line += ": " + said
	}
	return line
}

// text gives a file's content, "" if it can't be had: the map just says less.
func (r *Root) text(clean string) string {
	s, _, err := r.source(clean)
	if err != nil {
		return ""
	}
	return string(s.text)
}

// packageDoc gives the first sentence of what a package says it is for. The files that usually hold it are asked first.
func (r *Root) packageDoc(f *folder) string {
	packages := slices.DeleteFunc(slices.Clone(f.files), func(p string) bool {
		return path.Base(p) != "__init__.py" && (path.Ext(p) != ".go" || isTest(p))
	})
	first := func(p string) int { return slices.Index([]string{path.Base(f.path) + ".go", "doc.go"}, path.Base(p)) }
	slices.SortStableFunc(packages, func(a, b string) int { return cmp.Compare(first(b), first(a)) })
	for _, p := range packages[:min(len(packages), docAttempts)] {
		text := r.text(p)
		if m := docstring().FindStringSubmatch(text); m != nil && path.Ext(p) == ".py" {
			return printable(strings.TrimSpace(m[1]), maxShort)
		}
		s := newSource(p, []byte(text))
		if start, end := s.purpose(); start > 0 {
			return s.sentence(definition{doc: start, line: end})
		}
	}
	return ""
}

var docstring = pattern(`^(?:\s*#[^\n]*\n|\s)*[rRuU]?(?:"""|''')\s*([^\n"']+)`)

// moduleLines are the expressions for the line in which a file names its module.
var moduleLines = map[string]func() *regexp.Regexp{
	"go.mod":         pattern(`(?m)^module\s+"?([^\s"]+)`),
	"Cargo.toml":     pattern(`(?ms)^\[package\][^\[]*?^name\s*=\s*"([^"]+)"`),
	"package.json":   pattern(`(?m)^\s*\{?\s*"name"\s*:\s*"([^"]+)"`),
	"pyproject.toml": pattern(`(?ms)^\[(?:project|tool\.poetry)\][^\[]*?^name\s*=\s*["']([^"']+)`),
	"pom.xml":        pattern(`<artifactId>([^<]+)</artifactId>`),
}

// purposeLine is the line in which such a file says what the module is for.
var purposeLine = pattern(`(?m)^[ \t{]*(?:"description"[ \t]*:[ \t]*"([^"\n]+)|description[ \t]*=[ \t]*(?:"([^"\n]+)|'([^'\n]+))|<description>([^<\n]+))`)

// module writes what a file says of its module, if it is of one, and gives the line in which it says what it is for.
func (r *Root) module(text *page, at string) (purpose []tool.Ref) {
	line := moduleLines[path.Base(at)]
	if line == nil {
		return nil
	}
	content := r.text(at)
	named := line().FindStringSubmatch(content)
	if named == nil {
		return nil
	}
	name, said := printable(named[1], maxShort), ""
	if m := purposeLine().FindStringSubmatch(content); m != nil {
		said = ": " + printable(strings.TrimSpace(strings.Join(m[1:], "")), maxShort)
		line := 1 + strings.Count(content[:strings.Index(content, m[0])], "\n")
		purpose = append(purpose, tool.Ref{Source: tool.Code, Path: at, Title: name, Start: line, End: line, Opened: true})
	}
	text.add("module %s (%s)%s", name, at, said)
	return purpose
}

// firstParagraph gives the first lines of a README that are prose: no heading, badge, picture or markup.
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
