package internal

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// testsIn names the tests and fuzz targets of a folder of the module, and the conversations in its testdata: “# Name: a
// case of it” is TestName.
func testsIn(t *testing.T, folder string) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", filepath.FromSlash(folder), "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil {
				names[fn.Name.Name] = true
			}
		}
	}
	texts, err := filepath.Glob(filepath.Join("..", filepath.FromSlash(folder), "testdata", "*.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range texts {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?m)^# (\w+)`).FindAllStringSubmatch(string(text), -1) {
			names["Test"+m[1]] = true
		}
	}
	return names
}

// proof is a row of a table: a promise, and the tests that it names, by folder.
type proof struct {
	promise string
	tests   map[string][]string
}

// proofs reads the tables. In the last cell of a row, a folder in backticks holds for the tests that follow it.
func proofs(text string) (rows []proof) {
	ticked := regexp.MustCompile("`([^`]+)`")
	for line := range strings.Lines(text) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if !strings.HasPrefix(line, "| ") || len(cells) < 2 || strings.HasSuffix(cells[len(cells)-1], " by ") {
			continue
		}
		row, folder := proof{strings.TrimSpace(cells[0]), map[string][]string{}}, ""
		for _, m := range ticked.FindAllStringSubmatch(cells[len(cells)-1], -1) {
			if strings.Contains(m[1], "/") {
				folder = m[1]
				continue
			}
			row.tests[folder] = append(row.tests[folder], m[1])
		}
		rows = append(rows, row)
	}
	return rows
}

func TestPromisesAndRequirementsNameTestsThatExist(t *testing.T) {
	known := map[string]map[string]bool{}
	for _, file := range []string{"SECURITY.md", "docs/requirements.md"} {
		text, err := os.ReadFile("../" + file)
		if err != nil {
			t.Fatal(err)
		}
		rows := proofs(string(text))
		if len(rows) < 30 {
			t.Fatalf("only %d rows of %s were found: the tables are read in the wrong way", len(rows), file)
		}
		for _, r := range rows {
			if len(r.tests) == 0 {
				t.Errorf("%s names no test for: %s", file, r.promise)
			}
			for folder, names := range r.tests {
				if known[folder] == nil {
					known[folder] = testsIn(t, folder)
				}
				for _, name := range names {
					if !known[folder][name] {
						t.Errorf("%s names %s of %s, which does not exist: %s", file, name, folder, r.promise)
					}
				}
			}
		}
	}
}

// A number that nothing explains helps nobody.
func TestEveryRequirementThatIsNamedIsInTheTable(t *testing.T) {
	text, err := os.ReadFile("../docs/requirements.md")
	if err != nil {
		t.Fatal(err)
	}
	explained := map[string]bool{}
	for _, r := range proofs(string(text)) {
		explained[r.promise] = true
	}
	number := regexp.MustCompile(`\b(?:FR|SC)-[0-9]+\b`)
	err = filepath.WalkDir("..", func(file string, d fs.DirEntry, err error) error {
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
			if !explained[id] {
				t.Errorf("%s names %s, which docs/requirements.md does not explain", file, id)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Every attack that is tested belongs to a promise: one that is left out of SECURITY.md is known to nobody.
func TestEveryTestOfAnAttackProvesAPromise(t *testing.T) {
	text, err := os.ReadFile("../SECURITY.md")
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{}
	for _, r := range proofs(string(text)) {
		for _, name := range r.tests["internal/oracle"] {
			named[name] = true
		}
	}
	files, err := filepath.Glob("oracle/injection_*test.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("the attacks are not where they were: %v", err)
	}
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?m)^func (Test\w+)\(`).FindAllSubmatch(source, -1) {
			if name := string(m[1]); !named[name] {
				t.Errorf("%s proves something that SECURITY.md does not promise", name)
			}
		}
	}
}
