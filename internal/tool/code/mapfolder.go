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

// folder is a line of the map. Its files are counted with those of all folders below it.
type folder struct {
	path      string
	depth     int // below the mapped folder, from 1
	languages map[string]int
	packages  []string // files directly in it that may say what it is for
}

// folderMap is one map of a folder under way.
type folderMap struct {
	root    *Root
	path    string
	folders map[string]*folder // by path; the mapped one too
	files   []string           // names directly in it
	modules []string           // files that name one
	readme  string             // path
}

func (r *Root) mapFolder(ctx context.Context, at string, depth int) (tool.Result, error) {
	paths, skipped, err := r.files(ctx, at)
	if err != nil {
		return tool.Result{}, err
	}
	m := folderMap{root: r, path: at, folders: map[string]*folder{at: {path: at, languages: map[string]int{}}}}
	for _, p := range paths {
		m.enter(p, depth)
	}
	tree, cut := m.tree(depth)
	var text page
	res := tool.Result{Items: len(tree), Truncated: cut || len(m.files) > maxDeclared}
	m.describe(&text, len(paths))
	for _, p := range m.modules {
		if listed := m.folders[path.Dir(p)]; listed == m.folders[at] || slices.Contains(tree, listed) {
			res.Refs = append(res.Refs, r.module(&text, p)...)
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
	return res.WithData(MapData{ReadmePath: m.readme})
}

var readmeName = pattern(`(?i)^readme(\.(md|markdown|rst|txt))?$`)

// enter counts a file in the folders that it lies in.
func (m *folderMap) enter(p string, depth int) {
	language := languageOf(p, nil).name
	m.folders[m.path].languages[language]++
	dir, name := path.Dir(p), path.Base(p)
	below := dir
	if m.path != "." {
		below = strings.TrimPrefix(strings.TrimPrefix(dir, m.path), "/")
	}
	at := m.path
	for i, part := range strings.Split(below, "/") {
		if i == depth || part == "" || part == "." {
			break
		}
		at = path.Join(at, part)
		if m.folders[at] == nil {
			m.folders[at] = &folder{path: at, depth: i + 1, languages: map[string]int{}}
		}
		m.folders[at].languages[language]++
	}
	if dir == m.path {
		m.files = append(m.files, name)
		if m.readme == "" && readmeName().MatchString(name) {
			m.readme = p
		}
	}
	if at != dir {
		return
	}
	if moduleLines[name] != nil && rankOfPath(p, true) >= exampleRank*plainRank {
		m.modules = append(m.modules, p)
	}
	if strings.HasSuffix(name, ".go") && !isTest(p) || name == "__init__.py" {
		m.folders[dir].packages = append(m.folders[dir].packages, p)
	}
}

// tree gives the folders below the mapped one, by path. If they are too many, the tree is made less deep, and cut off only where that is not enough.
func (m *folderMap) tree(depth int) (tree []*folder, cut bool) {
	for ; ; depth-- {
		tree = nil
		for _, f := range m.folders {
			if 0 < f.depth && f.depth <= depth {
				tree = append(tree, f)
			}
		}
		if len(tree) <= maxFolders || depth == 1 {
			break
		}
		cut = true
	}
	slices.SortFunc(tree, func(a, b *folder) int { return slices.Compare(strings.Split(a.path, "/"), strings.Split(b.path, "/")) })
	return tree[:min(len(tree), maxFolders)], cut || len(tree) > maxFolders
}

// describe writes what is said of the mapped folder itself.
func (m *folderMap) describe(text *page, files int) {
	where, own := m.root.name, m.folders[m.path]
	if m.path != "." {
		where += "/" + m.path
	}
	var languages []string
	for _, name := range own.byCount() {
		languages = append(languages, fmt.Sprintf("%s %d", name, own.languages[name]))
	}
	counted := strings.Join(languages[:min(len(languages), mostLanguages)], ", ")
	text.add("%s", strings.TrimSuffix(where+": "+tool.Count(files, "file")+": "+counted, ": "))
	if said := m.root.packageDoc(own); said != "" {
		text.add("%s", said)
	}
	if said := firstParagraph(m.root.text(m.readme)); said != "" {
		text.add("README: %s", said)
	}
	if len(m.files) > 0 {
		text.add("files: %s", strings.Join(m.files[:min(len(m.files), maxDeclared)], ", "))
	}
}

// byCount gives the languages of a folder, the most frequent first.
func (f *folder) byCount() []string {
	return slices.SortedFunc(maps.Keys(f.languages), func(a, b string) int {
		return cmp.Or(cmp.Compare(f.languages[b], f.languages[a]), strings.Compare(a, b))
	})
}

// line is what the map says of a folder.
func (f *folder) line(r *Root) string {
	count := 0
	for _, n := range f.languages {
		count += n
	}
	line := f.path + "/ " + tool.Count(count, "file")
	known := slices.DeleteFunc(f.byCount(), func(name string) bool { return name == languages().unknown.name })
	if len(known) > 0 {
		line += ", mostly " + known[0]
	}
	if said := r.packageDoc(f); said != "" {
		line += ": " + said
	}
	return line
}

// text gives a file's content, "" if it can't be had.
func (r *Root) text(clean string) string {
	content, _ := r.content(clean) // the map just says less
	return string(content)
}

// packageDoc gives the first sentence of what a package says it is for. The files that usually hold it are asked first.
func (r *Root) packageDoc(f *folder) string {
	first := func(p string) int {
		return slices.Index([]string{path.Base(f.path) + ".go", "doc.go"}, path.Base(p))
	}
	slices.SortStableFunc(f.packages, func(a, b string) int { return cmp.Compare(first(b), first(a)) })
	for _, p := range f.packages[:min(len(f.packages), docAttempts)] {
		content, err := r.content(p)
		if err != nil {
			continue
		}
		if m := docstring().FindSubmatch(content); m != nil && path.Ext(p) == ".py" {
			return printable(strings.TrimSpace(string(m[1])), maxShort)
		}
		s := newSource(p, content)
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
	content := r.text(at)
	named := moduleLines[path.Base(at)]().FindStringSubmatch(content)
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
