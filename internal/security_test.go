package internal

import (
	"go/ast"
	"go/build/constraint"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
)

// testsIn names the tests, fuzz targets and benchmarks of a folder of the module, and the conversations in its testdata: “# Name: a
// case of it” is TestName. A test is false that the fast tests and CI leave out: it is for another system or of a tag that
// CI has not, or it calls needs.Long, itself or through a function of its folder.
func testsIn(t *testing.T, folder string) map[string]bool {
	t.Helper()
	files := assert.Must(filepath.Glob(filepath.Join("..", filepath.FromSlash(folder), "*_test.go")))(t)
	sources := map[string]string{}
	for _, file := range files {
		text := assert.Must(os.ReadFile(file))(t)
		sources[file] = string(text)
	}
	names := assert.Must(testsOf(sources))(t)
	texts := assert.Must(filepath.Glob(filepath.Join("..", filepath.FromSlash(folder), "testdata", "*.txt")))(t)
	for _, file := range texts {
		text := assert.Must(os.ReadFile(file))(t)
		for _, m := range regexp.MustCompile(`(?m)^# (\w+)`).FindAllStringSubmatch(string(text), -1) {
			names["Test"+m[1]] = true
		}
	}
	return names
}

// testsOf names the tests of the files of a folder, as testsIn does.
func testsOf(texts map[string]string) (tests map[string]bool, err error) {
	tests = map[string]bool{}
	proves := regexp.MustCompile("^(Test|Fuzz|Benchmark)") // figures that are promised are measured when asked for
	calls, long := map[string][]string{}, map[string]bool{}
	for file, text := range texts {
		f, err := parser.ParseFile(token.NewFileSet(), file, text, parser.SkipObjectResolution|parser.ParseComments)
		if err != nil {
			return nil, err
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Recv != nil {
				continue
			}
			name := fn.Name.Name
			if proves.MatchString(name) {
				tests[name] = true
			}
			long[name] = long[name] || !builtInCI(f)
			ast.Inspect(fn, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				switch called := call.Fun.(type) {
				case *ast.Ident:
					calls[name] = append(calls[name], called.Name)
				case *ast.SelectorExpr:
					if of, ok := called.X.(*ast.Ident); ok && of.Name == "needs" && called.Sel.Name == "Long" {
						long[name] = true
					}
				}
				return true
			})
		}
	}
	for changed := true; changed; {
		changed = false
		for name, all := range calls {
			if !long[name] && slices.ContainsFunc(all, func(called string) bool { return long[called] }) {
				long[name], changed = true, true
			}
		}
	}
	for name := range tests {
		tests[name] = !long[name]
	}
	return tests, nil
}

// builtInCI says whether CI's build has a file.
func builtInCI(f *ast.File) bool {
	for _, group := range f.Comments {
		for _, c := range group.List {
			if !constraint.IsGoBuild(c.Text) || c.Pos() > f.Package {
				continue
			}
			expr, err := constraint.Parse(c.Text)
			return err == nil && expr.Eval(func(tag string) bool {
				return slices.Contains([]string{"linux", "unix", "amd64", "sdk"}, tag)
			})
		}
	}
	return true
}

func TestTestsThatOnlyRunBeforeAReleaseAreTold(t *testing.T) {
	got, err := testsOf(map[string]string{
		"a_test.go": `package a
func TestFast(t *testing.T) { needs.Program(t, "zip"); other(t); t.Run("x", func(t *testing.T) { needs.All(t, "time") }) }
func TestLong(t *testing.T) { needs.Long(t, "an hour") }
func TestLongThroughAnother(t *testing.T) { t.Run("x", func(t *testing.T) { through(t) }) }
func through(t *testing.T) { hour(t) }
func hour(t *testing.T) { needs.Long(t, "an hour") }
func other(t *testing.T) {}
func FuzzAny(f *testing.F) {}
func BenchmarkAny(b *testing.B) {}`,
		"b_test.go": "//go:build ollama\n\npackage a\nfunc TestOfAnotherTag(t *testing.T) {}",
		"c_test.go": "//go:build sdk && linux\n\npackage a\nfunc TestOfCI(t *testing.T) {}",
	})
	want := map[string]bool{"TestFast": true, "TestLong": false, "TestLongThroughAnother": false, "FuzzAny": true, "BenchmarkAny": true,
		"TestOfAnotherTag": false, "TestOfCI": true}
	assert.That(t, err == nil && maps.Equal(got, want), "got %v, %v; want %v", got, err, want)
}

// proof is a row of a table: a promise, and the tests that it names, by folder.
type proof struct {
	promise string
	tests   map[string][]string
}

// proofs reads the rows of tables, whose last cell names the tests, and the points of lists, whose second line does. A
// folder in backticks holds for the tests that follow it, and one in a heading for the points below it.
func proofs(text string) (rows []proof) {
	ticked := regexp.MustCompile("`([^`]+)`")
	promise, section := "", ""
	add := func(promise, folder, tests string) {
		row := proof{strings.TrimSpace(promise), map[string][]string{}}
		for _, m := range ticked.FindAllStringSubmatch(tests, -1) {
			if strings.Contains(m[1], "/") {
				folder = m[1]
				continue
			}
			row.tests[folder] = append(row.tests[folder], m[1])
		}
		rows = append(rows, row)
	}
	for line := range strings.Lines(text) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		switch {
		case strings.HasPrefix(line, "#"):
			section = ""
			if m := ticked.FindStringSubmatch(line); m != nil {
				section = m[1]
			}
		case strings.HasPrefix(line, "- ") && section != "":
			if promise != "" {
				add(promise, section, "") // which names no test
			}
			promise = strings.TrimPrefix(line, "- ")
		case strings.HasPrefix(line, "  ") && promise != "":
			add(promise, section, line)
			promise = ""
		case strings.HasPrefix(line, "| ") && len(cells) > 1 && !strings.HasSuffix(cells[len(cells)-1], " by "):
			add(cells[0], "", cells[len(cells)-1])
		}
	}
	return rows
}

// Nobody should take a list for read of which nothing was.
func TestProofsAreReadFromTablesAndLists(t *testing.T) {
	got := proofs("## Safe (`internal/a`)\n\n- It is `quiet`.\n  `TestA`, `TestB` `internal/b` `TestC`\n- It is good.\n- It is short.\n  `TestD`\n\n" +
		"## Fast\n\n| Promise | Proved by |\n|---|---|\n| Short | `internal/c` `TestE` |\n")
	want := []proof{{"It is `quiet`.", map[string][]string{"internal/a": {"TestA", "TestB"}, "internal/b": {"TestC"}}},
		{"It is good.", map[string][]string{}}, {"It is short.", map[string][]string{"internal/a": {"TestD"}}},
		{"Short", map[string][]string{"internal/c": {"TestE"}}}}
	assert.That(t, reflect.DeepEqual(got, want), "got %v, want %v", got, want)
}

func TestPromisesAndRequirementsNameTestsThatChangesPass(t *testing.T) {
	known := map[string]map[string]bool{}
	for _, file := range []string{"SECURITY.md", "docs/requirements.md"} {
		text := assert.Must(os.ReadFile("../" + file))(t)
		rows := proofs(string(text))
		assert.Require(t, len(rows) >= 30,
			"only %d rows of %s were found: the tables are read in the wrong way", len(rows), file)
		for _, r := range rows {
			assert.That(t, len(r.tests) != 0, "%s names no test for: %s", file, r.promise)
			for folder, names := range r.tests {
				if known[folder] == nil {
					known[folder] = testsIn(t, folder)
				}
				for _, name := range names {
					if runs, exists := known[folder][name]; !exists {
						t.Errorf("%s names %s of %s, which does not exist: %s", file, name, folder, r.promise)
					} else if !runs {
						t.Errorf("%s names %s of %s, which is neither among the fast tests nor in CI: %s", file, name,
							folder, r.promise)
					}
				}
			}
		}
	}
}

// A number that nothing explains helps nobody.
func TestEveryRequirementThatIsNamedIsInTheTable(t *testing.T) {
	text := assert.Must(os.ReadFile("../docs/requirements.md"))(t)
	explained := map[string]bool{}
	for _, r := range proofs(string(text)) {
		explained[r.promise] = true
	}
	number := regexp.MustCompile(`\b(?:FR|SC)-[0-9]+\b`)
	assert.NoError(t, filepath.WalkDir("..", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && file != ".." && strings.HasPrefix(d.Name(), ".") {
			return fs.SkipDir
		}
		if ext := filepath.Ext(file); d.IsDir() || ext != ".go" && ext != ".md" && ext != ".xml" {
			return nil
		}
		source, err := os.ReadFile(file)
		for _, id := range number.FindAllString(string(source), -1) {
			assert.That(t, explained[id], "%s names %s, which docs/requirements.md does not explain", file, id)
		}
		return err
	}))
}

// Every attack that is tested belongs to a promise: one that is left out of SECURITY.md is known to nobody.
func TestEveryTestOfAnAttackProvesAPromise(t *testing.T) {
	text := assert.Must(os.ReadFile("../SECURITY.md"))(t)
	named := map[string]bool{}
	for _, r := range proofs(string(text)) {
		for _, name := range r.tests["internal/oracle"] {
			named[name] = true
		}
	}
	files, err := filepath.Glob("oracle/injection_*test.go")
	assert.Require(t, err == nil && len(files) != 0, "the attacks are not where they were: %v", err)
	for _, file := range files {
		source := assert.Must(os.ReadFile(file))(t)
		for _, m := range regexp.MustCompile(`(?m)^func (Test\w+)\(`).FindAllSubmatch(source, -1) {
			name := string(m[1])
			assert.That(t, named[name], "%s proves something that SECURITY.md does not promise", name)
		}
	}
}
