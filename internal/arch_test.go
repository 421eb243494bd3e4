package internal

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// importsOf reads the imports of every package of the module, tests left out: what a test needs is its own business.
func importsOf(t *testing.T) map[string][]string {
	t.Helper()
	imports := map[string][]string{}
	err := filepath.WalkDir("..", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name := d.Name(); file != ".." && (strings.HasPrefix(name, ".") || name == "testdata") {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		pkg := path.Join("sibyl", strings.TrimPrefix(filepath.ToSlash(filepath.Dir(file)), ".."))
		if _, ok := imports[pkg]; !ok {
			imports[pkg] = nil
		}
		for _, spec := range f.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			imports[pkg] = append(imports[pkg], name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(imports) < 10 {
		t.Fatalf("only %d packages found: the test looks in the wrong place", len(imports))
	}
	return imports
}

func isStandard(name string) bool {
	first, _, _ := strings.Cut(name, "/")
	return first != "sibyl" && !strings.Contains(first, ".")
}

func under(name string, roots ...string) bool {
	for _, r := range roots {
		if name == r || strings.HasPrefix(name, r+"/") {
			return true
		}
	}
	return false
}

// adapters are the packages that touch a driver, a provider or the world.
var adapters = []string{"sibyl/internal/store", "sibyl/internal/bert",
	"sibyl/internal/model/openai", "sibyl/internal/model/anthropic", "sibyl/internal/model/gemini",
	"sibyl/internal/model/ollama", "sibyl/internal/model/offline",
	"sibyl/internal/tool/code", "sibyl/internal/tool/vault", "sibyl/internal/tool/web"}

// transport is what the adapters of providers share.
const transport = "sibyl/internal/model/wire"

var contracts = []string{"sibyl/internal/model", "sibyl/internal/tool", "sibyl/internal/journal", "sibyl/internal/search", "sibyl/internal/files"}

func TestKernelImportsTheStandardLibraryOnly(t *testing.T) {
	for pkg, imports := range importsOf(t) {
		if pkg != "sibyl/internal/bt" && pkg != "sibyl/internal/signal" {
			continue
		}
		for _, name := range imports {
			if !isStandard(name) {
				t.Errorf("%s imports %s: trees and signals must stay readable and portable without anything else", pkg, name)
			}
		}
	}
}

func TestContractsImportNoDriver(t *testing.T) {
	// The form of a structured answer is part of the model's contract, and the first library is how it is kept. The other two stand for
	// what the standard library lacks: accents, and locks on Windows.
	allowed := map[string]bool{"github.com/google/jsonschema-go/jsonschema": true, "golang.org/x/text/unicode/norm": true, "golang.org/x/sys/windows": true}
	for pkg, imports := range importsOf(t) {
		for _, c := range contracts {
			if pkg != c {
				continue
			}
			for _, name := range imports {
				if !isStandard(name) && !allowed[name] && !under(name, contracts...) {
					t.Errorf("%s imports %s: a contract that knows an adapter can't have a second one", pkg, name)
				}
			}
		}
	}
}

func TestOnlyAppKnowsAdapters(t *testing.T) {
	for pkg, imports := range importsOf(t) {
		if pkg == "sibyl/internal/app" {
			continue
		}
		for _, name := range imports {
			if under(name, adapters...) && !under(pkg, name) {
				t.Errorf("%s imports the adapter %s: only app chooses what stands behind a contract", pkg, name)
			}
		}
	}
}

func TestOnlyAdaptersKnowTheTransport(t *testing.T) {
	known := false
	for pkg, imports := range importsOf(t) {
		for _, name := range imports {
			if !under(name, transport) {
				continue
			}
			known = true
			if !under(pkg, adapters...) && !under(pkg, transport) {
				t.Errorf("%s imports %s: how a provider is asked is the business of adapters", pkg, name)
			}
		}
	}
	if !known {
		t.Errorf("nothing imports %s: the rule guards a package that is not there", transport)
	}
}

func TestAssistantsKnowNoWayIn(t *testing.T) {
	ways := []string{"sibyl/internal/cli", "sibyl/internal/app", "sibyl/internal/config"}
	for pkg, imports := range importsOf(t) {
		if !under(pkg, "sibyl/internal/oracle", "sibyl/internal/run", "sibyl/internal/bt", "sibyl/internal/signal", "sibyl/internal/model",
			"sibyl/internal/tool", "sibyl/internal/journal", "sibyl/internal/store") {
			continue
		}
		for _, name := range imports {
			if under(name, ways...) {
				t.Errorf("%s imports %s: data flows from the ways in to the core, never back", pkg, name)
			}
		}
	}
}

func TestOnlyCommandsImportApp(t *testing.T) {
	for pkg, imports := range importsOf(t) {
		for _, name := range imports {
			if name == "sibyl/internal/app" && pkg != "sibyl/internal/cli" && !under(pkg, "sibyl/cmd") {
				t.Errorf("%s imports app: what wires everything must not be wired in", pkg)
			}
		}
	}
}

func TestNoPackageIsCalledAfterNothing(t *testing.T) {
	for pkg := range importsOf(t) {
		switch path.Base(pkg) {
		case "util", "utils", "common", "helper", "helpers", "core", "types", "models":
			t.Errorf("%s: a package is called after what it does, or it will do everything", pkg)
		}
	}
}

func TestMainStaysSmall(t *testing.T) {
	text, err := os.ReadFile("../cmd/sibyl/main.go")
	if err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(string(text), "\n"); lines >= 60 {
		t.Errorf("main has %d lines: it turns signals and exit codes, all else belongs to cli", lines)
	}
}
