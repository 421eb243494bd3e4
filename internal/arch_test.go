package internal

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
)

// module is the source of a module as the rules see it: its packages by their folders, test files left out, since what
// a test needs is its own business.
type module struct {
	files    fs.FS
	packages map[string]*pack
}

type pack struct {
	files   map[string]*ast.File // by path
	imports []string             // folders for packages of the module, paths for others
}

func load(files fs.FS) (*module, error) {
	m := &module{files: files, packages: map[string]*pack{}}
	err := fs.WalkDir(files, ".", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name := d.Name(); file != "." && (strings.HasPrefix(name, ".") || name == "testdata" ||
				name == "node_modules") {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return nil
		}
		text, err := fs.ReadFile(files, file)
		if err != nil {
			return err
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, text,
			parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		p := m.packages[path.Dir(file)]
		if p == nil {
			p = &pack{files: map[string]*ast.File{}}
			m.packages[path.Dir(file)] = p
		}
		p.files[file] = parsed
		for _, spec := range parsed.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			p.imports = append(p.imports, strings.TrimPrefix(name, "sibyl/"))
		}
		return nil
	})
	return m, err
}

// The kinds of rooms. A room that is none of them is under the rules for all.
var (
	kernel    = []string{"internal/bt", "internal/signal"}
	contracts = []string{"internal/journal", "internal/model", "internal/tool", "internal/service/assistant",
		"internal/run", "internal/files", "internal/schema", "internal/text", "internal/text/search",
		"internal/server/user"}
	waysIn = []string{"internal/cli", "internal/api", "internal/mcp"}
	// What an assistant may stand on beside the kernel and the contracts. It has to know what a secret looks like that
	// was taken out, an oracle of the Council is a Markdown file, and the witness of an Inquiry may be documents.
	ground = []string{"internal/agent", "internal/text/jsonobject", "internal/redact", "internal/text/language",
		"internal/text/markdown", "internal/text/front", "internal/preset", "internal/text/origin",
		"internal/media/document", "prompts", "trees"}
	// The form of a structured answer is part of the model's contract, and the first library is how it is kept. The
	// others stand for what the standard library lacks: ids, sentences, stems, accents, locks on Windows, and the
	// exchange of two files on Linux.
	libraries = []string{"github.com/google/jsonschema-go/jsonschema", "github.com/google/uuid",
		"github.com/clipperhouse/uax29/v2/sentences", "github.com/blevesearch/snowballstem",
		"golang.org/x/text/unicode/norm", "golang.org/x/sys/windows", "golang.org/x/sys/unix"}
)

const (
	app       = "internal/app"
	transport = "internal/model/wire" // what the adapters of providers share
	scoring   = "cmd/sibyl-eval/scores"
	problems  = "internal/problem" // the one table of what errors mean, those of assistants among them
)

func under(name string, roots ...string) bool {
	return slices.ContainsFunc(roots, func(r string) bool { return name == r || strings.HasPrefix(name, r+"/") })
}

func ofModule(name string) bool {
	return under(name, "internal", "cmd", "prompts", "trees", "eval")
}

func isStandard(name string) bool {
	first, _, _ := strings.Cut(name, "/")
	return !ofModule(name) && !strings.Contains(first, ".")
}

// isAdapter says that a package touches a driver, a provider or the world: it is the store, or a folder of its own
// below a contract, but no suite and no transport.
func isAdapter(name string) bool {
	dir, last := path.Split(name)
	return name == "internal/bert" || name == "internal/store" ||
		slices.Contains([]string{"internal/model/", "internal/tool/"}, dir) &&
			name != transport && !strings.HasSuffix(last, "test")
}

// isChild says that a package is a program that an adapter starts: the other half of that adapter.
func isChild(name string) bool {
	return under(name, "cmd") && !under(name, "cmd/sibyl", "cmd/sibyl-eval")
}

// adapterOf is the adapter whose room a package belongs to, or "".
func adapterOf(name string) string {
	for ; strings.Contains(name, "/"); name = path.Dir(name) {
		if isAdapter(name) {
			return name
		}
	}
	return ""
}

// assistants are the rooms that describe themselves: they import the contract and only bring an assistant to it.
func (m *module) assistants() (rooms []string) {
	for name, p := range m.packages {
		if slices.Contains(p.imports, "internal/service/assistant") && !under(name, waysIn...) &&
			!under(name, app, "internal/service", scoring, problems) {
			rooms = append(rooms, name)
		}
	}
	return rooms
}

// roomOf is the room of an assistant that a package belongs to, or "".
func (m *module) roomOf(name string) string {
	for _, room := range m.assistants() {
		if under(name, room) {
			return room
		}
	}
	return ""
}

// rules are what holds in the module; each reports what breaks it, with the reason.
var rules = map[string]func(m *module, broken func(format string, args ...any)){
	"kernel": func(m *module, broken func(string, ...any)) {
		m.eachImport(func(pkg, name string) {
			if under(pkg, kernel...) && !isStandard(name) {
				broken("%s imports %s: trees and signals must stay readable and portable without anything else",
					pkg, name)
			}
		})
	},
	"contracts": func(m *module, broken func(string, ...any)) {
		m.eachImport(func(pkg, name string) {
			if slices.Contains(contracts, pkg) && !isStandard(name) && !under(name, libraries...) &&
				!slices.Contains(contracts, name) && !slices.Contains(kernel, name) {
				broken("%s imports %s: a contract that knows an adapter can't have a second one", pkg, name)
			}
		})
	},
	"adapters": func(m *module, broken func(string, ...any)) {
		m.eachImport(func(pkg, name string) {
			own, other := adapterOf(pkg), adapterOf(name)
			switch {
			case other == "" || other == own || under(pkg, app) || isChild(pkg):
			case own != "":
				broken("%s imports the adapter %s: what two of them share belongs to their contract, or one can't be "+
					"taken away", pkg, name)
			default:
				broken("%s imports the adapter %s: only app chooses what stands behind a contract", pkg, name)
			}
		})
	},
	"transport": func(m *module, broken func(string, ...any)) {
		m.eachImport(func(pkg, name string) {
			if under(name, transport) && !under(pkg, transport) && adapterOf(pkg) == "" {
				broken("%s imports %s: how a provider is asked is the business of adapters", pkg, name)
			}
		})
	},
	"assistants": func(m *module, broken func(string, ...any)) {
		m.eachImport(func(pkg, name string) {
			room, other := m.roomOf(pkg), m.roomOf(name)
			switch {
			case room != "" && !isStandard(name) && other != room && !under(name, libraries...) &&
				!slices.Contains(contracts, name) &&
				!slices.Contains(kernel, name) && !slices.Contains(ground, name):
				broken("%s imports %s: an assistant stands on contracts, so that it runs over every adapter and is "+
					"known by every way in", pkg, name)
			case room == "" && other != "" && !under(pkg, app, scoring, problems) && !under(pkg, waysIn...):
				broken("%s imports the assistant %s: what serves all of them knows them by their descriptions",
					pkg, name)
			}
		})
	},
	"outcomes": func(m *module, broken func(string, ...any)) {
		kept := m.keptTypes(broken)
		m.eachFile(func(pkg, file string, f *ast.File) {
			if m.roomOf(pkg) != "" || under(pkg, scoring) {
				return
			}
			ast.Inspect(f, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.CallExpr:
					if what, _ := decoded(n); what == "Outcome" || what == "Summary" {
						broken("%s decodes the %s of a run: only the room of an assistant knows its form; use its "+
							"description", file, strings.ToLower(what))
					}
				case *ast.SelectorExpr:
					if name := dotted(n); kept[name] {
						broken("%s uses %s, which a run keeps: only the room of an assistant knows its form; use its "+
							"description", file, name)
					}
				}
				return true
			})
		})
	},
	"task agent": func(m *module, broken func(string, ...any)) {
		seen := map[string]bool{}
		var reach func(name string)
		reach = func(name string) {
			if p := m.packages[name]; p != nil && !seen[name] {
				seen[name] = true
				for _, next := range p.imports {
					if under(next, "internal/task") {
						broken("internal/taskchat reaches %s by %s: the agent changes tasks by tools only, or "+
							"nothing checks what it does", next, name)
					}
					reach(next)
				}
			}
		}
		reach("internal/taskchat")
	},
	"ways in": func(m *module, broken func(string, ...any)) {
		m.eachImport(func(pkg, name string) {
			isWay := under(pkg, waysIn...)
			switch {
			case name == app && !isWay && !under(pkg, "cmd", scoring):
				broken("%s imports app: what wires everything must not be wired in", pkg)
			case under(name, waysIn...) && !isWay && !under(pkg, app, "cmd"):
				broken("%s imports %s: data flows from the ways in to the core, never back", pkg, name)
			case under(name, "internal/config") && !isWay && !under(pkg, app, scoring, "internal/config",
				"internal/keys"):
				broken("%s imports config: settings reach the core as values, so that it can be used without files",
					pkg)
			case isWay && under(name, "internal/store"):
				broken("%s imports %s: a way in parses and renders; service reads the journal", pkg, name)
			}
		})
		m.eachFile(func(pkg, file string, f *ast.File) {
			if !under(pkg, waysIn...) || beside[file] != "" {
				return
			}
			ast.Inspect(f, func(n ast.Node) bool {
				// app.App has an Engine and a Store; the Engine of the web's settings is a search engine.
				if s, ok := n.(*ast.SelectorExpr); ok && (s.Sel.Name == "Engine" || s.Sel.Name == "Store") &&
					dotted(s.X) != "Web" && !strings.HasSuffix(dotted(s.X), ".Web") {
					broken("%s uses %s: a way in parses and renders; what can be done with runs and sessions is in service", file, dotted(s))
				}
				return true
			})
		})
	},
	"names": func(m *module, broken func(string, ...any)) {
		for name := range m.packages {
			switch path.Base(name) {
			case "util", "utils", "common", "helper", "helpers", "core", "types", "models":
				broken("%s: a package is called after what it does, or it will do everything", name)
			}
		}
	},
	"state": func(m *module, broken func(string, ...any)) {
		for _, p := range m.packages {
			p.variables(broken)
		}
	},
	"main": func(m *module, broken func(string, ...any)) {
		m.eachFile(func(pkg, file string, _ *ast.File) {
			text, err := fs.ReadFile(m.files, file)
			if lines := strings.Count(string(text), "\n"); err != nil || path.Dir(pkg) == "cmd" && lines >= 60 {
				broken("%s has %d lines (error: %v): it turns signals and exit codes, all else belongs to cli",
					file, lines, err)
			}
		})
	},
	"picture": func(m *module, broken func(string, ...any)) {
		text, err := fs.ReadFile(m.files, "docs/architecture.md")
		if err != nil {
			broken("%v", err)
		}
		for name := range m.packages {
			if dir, room := path.Split(name); dir == "internal/" && !strings.Contains(string(text), "`"+name+"`") &&
				!strings.Contains(string(text), "`"+room+"`") {
				broken("docs/architecture.md does not name %s: who looks for the place of a thing begins there", name)
			}
		}
	},
}

// beside are the files of ways in that use the engine or the store, with the reasons.
var beside = map[string]string{
	"internal/cli/doctor.go": "doctor tries whether the journal can be written",
}

func (m *module) eachImport(do func(pkg, name string)) {
	for pkg, p := range m.packages {
		for _, name := range p.imports {
			do(pkg, name)
		}
	}
}

func (m *module) eachFile(do func(pkg, file string, f *ast.File)) {
	for pkg, p := range m.packages {
		for file, f := range p.files {
			do(pkg, file, f)
		}
	}
}

// dotted is an expression of names and dots as it is written, or "".
func dotted(x ast.Expr) string {
	switch x := x.(type) {
	case *ast.Ident:
		return x.Name
	case *ast.SelectorExpr:
		if left := dotted(x.X); left != "" {
			return left + "." + x.Sel.Name
		}
		return x.Sel.Name
	case *ast.IndexExpr: // of a generic function
		return dotted(x.X)
	}
	return ""
}

// decoded takes json.Unmarshal(x.What, &into) apart. What begins with a capital letter.
func decoded(call *ast.CallExpr) (what, into string) {
	if dotted(call.Fun) != "json.Unmarshal" || len(call.Args) != 2 {
		return "", ""
	}
	what = dotted(call.Args[0])
	what = what[strings.LastIndexByte(what, '.')+1:]
	if what != "" {
		what = strings.ToUpper(what[:1]) + what[1:]
	}
	if address, ok := call.Args[1].(*ast.UnaryExpr); ok {
		into = dotted(address.X)
	}
	return what, into
}

// keptTypes are the types of assistants that their rooms decode from what a run keeps of them: outcomes, summaries and
// results of effects.
func (m *module) keptTypes(broken func(string, ...any)) map[string]bool {
	kept := map[string]bool{}
	for _, room := range m.assistants() {
		outcomes := 0
		for _, f := range m.packages[room].files {
			declared := map[string]string{} // variables of the function that is looked at
			ast.Inspect(f, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.FuncDecl:
					clear(declared)
				case *ast.ValueSpec:
					for _, name := range n.Names {
						declared[name.Name] = dotted(n.Type)
					}
				case *ast.CallExpr:
					what, into := decoded(n)
					if what == "Outcome" {
						outcomes++
					}
					if slices.Contains([]string{"Outcome", "Summary", "Result"}, what) &&
						ast.IsExported(declared[into]) {
						kept[path.Base(room)+"."+declared[into]] = true
					}
				}
				return true
			})
		}
		if outcomes == 0 {
			broken("%s decodes no outcome that the rule can see: json.Unmarshal(outcome, &variable) is the form, so "+
				"that nobody else does it unseen", room)
		}
	}
	return kept
}

func TestArchitecture(t *testing.T) {
	m := assert.Must(load(os.DirFS("..")))(t)
	assert.Require(t, len(m.packages) >= 40 && len(m.assistants()) != 0,
		"%d packages and %d assistants found: the test looks in the wrong place", len(m.packages), len(m.assistants()))
	for name, rule := range rules {
		t.Run(name, func(t *testing.T) { rule(m, t.Errorf) })
	}
	unused := func(list *map[string]string, rule string) {
		excepted := *list
		*list = nil
		defer func() { *list = excepted }()
		for name := range excepted {
			file, what, _ := strings.Cut(name, " ")
			needed := false
			rules[rule](m, func(format string, args ...any) {
				broken := fmt.Sprintf(format, args...)
				needed = needed || strings.HasPrefix(broken, file) && strings.Contains(broken, what)
			})
			assert.That(t, needed, "%s is excepted from the rule %q, and keeps it: take it off the list", name, rule)
		}
	}
	unused(&beside, "ways in")
	unused(&pools, "state")
}
