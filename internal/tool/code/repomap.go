package code

import (
	"cmp"
	"context"
	"fmt"
	"go/doc"
	"go/parser"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"sibyl/internal/tool"
)

const (
	maxFolders  = 120 // folders that are listed
	maxReadme   = 800 // bytes of the README's first paragraph
	docAttempts = 5   // files of a package that are asked for its description
)

// MapArgs are the arguments of repo_map.
type MapArgs struct {
	Path  string `json:"path,omitempty" doc:"the folder to map; the whole if left out"`
	Depth int    `json:"depth,omitempty" doc:"levels of folders to list" min:"1" max:"8" default:"2"`
}

// MapData is the structured result of repo_map.
type MapData struct {
	Name      string          `json:"name"` // of the root folder
	Path      string          `json:"path"` // what was mapped, "." for all
	Files     int             `json:"files"`
	Languages []LanguageCount `json:"languages"` // the most frequent first
	Readme    string          `json:"readme,omitempty"`

	ReadmePath string `json:"readme_path,omitempty"` // of the README that Readme is of

	Modules []Module `json:"modules,omitempty"`
	Folders []Folder `json:"folders"` // by path
	Skipped Skipped  `json:"skipped"`
}

// LanguageCount says how many files a language has.
type LanguageCount struct {
	Language string `json:"language"`
	Files    int    `json:"files"`
}

// Module is a package of some package manager, by the name that its own file gives.
type Module struct {
	Path string `json:"path"` // of that file
	Name string `json:"name"`
	Doc  string `json:"doc,omitempty"`  // what the file says it is for
	Line int    `json:"line,omitempty"` // of Doc
}

// Folder is one line of the tree. Files counts those of all folders below it as well.
type Folder struct {
	Path     string `json:"path"`
	Files    int    `json:"files"`
	Language string `json:"language,omitempty"` // the most frequent one
	Doc      string `json:"doc,omitempty"`      // what the package says it is for, one sentence
}

func (r *Root) mapTool() tool.Tool {
	return tool.New(tool.Spec{
		Source: tool.Code, Effect: tool.Repeatable,
		Name: "repo_map",
		Description: "Shows how the folder is built: its sub-folders with file counts, languages, packages and what they say they are " +
			"for, and the README's first paragraph. Use it to get your bearings before searching.",
	}, r.mapFolders)
}

func (r *Root) mapFolders(ctx context.Context, _ tool.Call, args MapArgs) (tool.Result, error) {
	clean, err := cleanPath(args.Path)
	if err != nil {
		return tool.Result{}, err
	}
	paths, skipped, err := r.files(ctx, clean)
	if err != nil {
		return tool.Result{}, err
	}
	if len(paths) == 1 && paths[0] == clean {
		return tool.Result{}, tool.Errorf(tool.InvalidArgs, "open it with code_read", "%s is a file", clean)
	}
	data := MapData{Name: r.name, Path: clean, Files: len(paths), Skipped: skipped, Languages: []LanguageCount{}}
	counts := map[string]int{}
	for _, p := range paths {
		counts[languageOf(p, nil).name]++
	}
	for name, n := range counts {
		data.Languages = append(data.Languages, LanguageCount{name, n})
	}
	slices.SortFunc(data.Languages, func(a, b LanguageCount) int {
		return cmp.Or(cmp.Compare(b.Files, a.Files), strings.Compare(a.Language, b.Language))
	})
	tree, cut := folders(paths, clean, args.Depth)
	data.Folders = tree
	r.describe(ctx, &data, paths)
	if err := ctx.Err(); err != nil {
		return tool.Result{}, err
	}
	res := tool.Result{Text: mapText(data, cut), Items: len(data.Folders), Truncated: cut}
	for _, m := range data.Modules {
		if m.Doc != "" {
			res.Refs = append(res.Refs, tool.Ref{Source: tool.Code, Path: m.Path, Title: m.Name, Start: m.Line, End: m.Line, Opened: true})
		}
	}
	return res.WithData(data)
}

// files lists the files below a folder, sorted.
func (r *Root) files(ctx context.Context, start string) ([]string, Skipped, error) {
	var mu sync.Mutex
	var all []string
	skipped, err := r.walk(ctx, start, func(f *found) {
		mu.Lock()
		defer mu.Unlock()
		all = append(all, f.path)
	})
	slices.Sort(all)
	return all, skipped, err
}

// folders counts the files of each folder, down to a depth. If they are too many, the tree is made less deep, and cut
// off only where that is not enough.
func folders(paths []string, start string, depth int) (tree []Folder, cut bool) {
	for ; ; depth-- {
		tree = foldersTo(paths, start, depth)
		if len(tree) <= maxFolders {
			return tree, cut
		}
		cut = true
		if depth == 1 {
			return tree[:maxFolders], true
		}
	}
}

func foldersTo(paths []string, start string, depth int) []Folder {
	base := 0
	if start != "." {
		base = strings.Count(start, "/") + 1
	}
	langs := map[string]map[string]int{}
	for _, p := range paths {
		parts := strings.Split(path.Dir(p), "/")
		for n := base + 1; n <= min(len(parts), base+depth); n++ {
			at := strings.Join(parts[:n], "/")
			if at == "." {
				continue
			}
			if langs[at] == nil {
				langs[at] = map[string]int{}
			}
			langs[at][languageOf(p, nil).name]++
		}
	}
	tree := make([]Folder, 0, len(langs))
	for at, counts := range langs {
		f := Folder{Path: at}
		best := 0
		for name, n := range counts {
			f.Files += n
			if name != languages().unknown.name && (n > best || n == best && name < f.Language) {
				f.Language, best = name, n
			}
		}
		tree = append(tree, f)
	}
	slices.SortFunc(tree, func(a, b Folder) int {
		return slices.Compare(strings.Split(a.Path, "/"), strings.Split(b.Path, "/"))
	})
	return tree
}

var readmeName = pattern(`(?i)^readme(\.(md|markdown|rst|txt))?$`)

// describe adds what the files say about themselves: the README, the modules, the packages of the folders listed.
func (r *Root) describe(ctx context.Context, data *MapData, paths []string) {
	listed := map[string]*Folder{}
	for i := range data.Folders {
		listed[data.Folders[i].Path] = &data.Folders[i]
	}
	packages := map[string][]string{}
	for _, p := range paths {
		dir, name := path.Split(p)
		dir = path.Clean(dir)
		if dir == data.Path && data.Readme == "" && readmeName().MatchString(name) {
			data.Readme, data.ReadmePath = firstParagraph(r.text(p)), p
		}
		if dir != data.Path && listed[dir] == nil || ctx.Err() != nil {
			continue
		}
		if rankOfPath(p, true) >= exampleRank*plainRank {
			if m := r.module(name, p); m.Name != "" {
				data.Modules = append(data.Modules, m)
			}
		}
		if strings.HasSuffix(name, ".go") && !testName().MatchString(name) || name == "__init__.py" {
			packages[dir] = append(packages[dir], p)
		}
	}
	for dir, f := range listed {
		if ctx.Err() == nil {
			f.Doc = r.packageDoc(dir, packages[dir])
		}
	}
}

// text gives a file's content, "" if it can't be had.
func (r *Root) text(clean string) string {
	content, _ := r.content(clean) // the map just says less
	return string(content)
}

// packageDoc gives the first sentence of a package's description. The files that usually hold it are asked first.
func (r *Root) packageDoc(dir string, files []string) string {
	first := func(p string) int {
		switch path.Base(p) {
		case "doc.go":
			return 0
		case path.Base(dir) + ".go":
			return 1
		}
		return 2
	}
	slices.SortStableFunc(files, func(a, b string) int { return cmp.Compare(first(a), first(b)) })
	for _, p := range files[:min(len(files), docAttempts)] {
		text := r.text(p)
		if path.Ext(p) == ".py" {
			if m := docstring().FindStringSubmatch(text); m != nil {
				return printable(strings.TrimSpace(m[1]), maxShort)
			}
			continue
		}
		tree, err := parser.ParseFile(token.NewFileSet(), "", text, parser.ParseComments|parser.PackageClauseOnly)
		if err == nil && tree.Doc != nil {
			return printable(new(doc.Package).Synopsis(tree.Doc.Text()), maxShort)
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

// module is what a file says of its module; without a name if it is of none, or can't be read: the map just has one line less.
func (r *Root) module(name, at string) Module {
	m := Module{Path: at}
	line := moduleLines[name]
	if line == nil {
		return m
	}
	text := r.text(at)
	if found := line().FindStringSubmatch(text); found != nil {
		m.Name = printable(found[1], maxShort)
	}
	if found := purposeLine().FindStringSubmatch(text); found != nil {
		m.Doc = printable(strings.TrimSpace(strings.Join(found[1:], "")), maxShort)
		m.Line = 1 + strings.Count(text[:strings.Index(text, found[0])], "\n")
	}
	return m
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

func mapText(data MapData, cut bool) string {
	var b strings.Builder
	where := data.Name
	if data.Path != "." {
		where += "/" + data.Path
	}
	fmt.Fprintf(&b, "%s: %s", where, tool.Count(data.Files, "file"))
	for i, l := range data.Languages[:min(len(data.Languages), 8)] {
		sep := ", "
		if i == 0 {
			sep = ": "
		}
		fmt.Fprintf(&b, "%s%s %d", sep, l.Language, l.Files)
	}
	b.WriteString("\n")
	if data.Readme != "" {
		fmt.Fprintf(&b, "README: %s\n", data.Readme)
	}
	for _, m := range data.Modules {
		fmt.Fprintf(&b, "module %s (%s)", m.Name, m.Path)
		if m.Doc != "" {
			fmt.Fprintf(&b, ": %s", m.Doc)
		}
		b.WriteString("\n")
	}
	for _, f := range data.Folders {
		fmt.Fprintf(&b, "%s/ %s", f.Path, tool.Count(f.Files, "file"))
		if f.Language != "" {
			fmt.Fprintf(&b, ", mostly %s", f.Language)
		}
		if f.Doc != "" {
			fmt.Fprintf(&b, ": %s", f.Doc)
		}
		b.WriteString("\n")
	}
	if cut {
		b.WriteString("There are more folders: map one of them by its path.\n")
	}
	if skipped := data.Skipped.text(); skipped != "" {
		b.WriteString(skipped[1:] + "\n")
	}
	return b.String()
}
