package code

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/tool"
)

const leaseGo = `// Package lease says who drives a run.
package lease

// Acquire takes the lease. It waits for nobody.
func Acquire() { renew() }

func renew() {}
`

// callMap calls repo_map, which must succeed.
func callMap(t *testing.T, r *Root, args string) tool.Result {
	t.Helper()
	res, err := call(t, r, "repo_map", args)
	assert.NoErrorf(t, err, "%s", args)
	return res
}

func TestMapOfAFileHasItsDeclarationsAndWhatThePackageIsFor(t *testing.T) {
	r, _ := rootOf(t, map[string]string{"internal/run/lease.go": leaseGo, "internal/run/run.go": "package lease\n",
		"other/x.go": "package x\n"})
	for _, name := range []string{"internal/run/lease.go", "lease.go", "run/lease.go", "Lease.go"} {
		res := callMap(t, r, `{"path":"`+name+`"}`)
		want := "internal/run/lease.go, 7 lines\n   1| // Package lease says who drives a run.\n   2| package lease\n" +
			"internal/run/lease.go:4-5  func Acquire() { renew() }\n    Acquire takes the " +
			"lease.\ninternal/run/lease.go:7-7  func renew() {}\n"
		places := []string{"internal/run/lease.go:1-2", "internal/run/lease.go:5", "internal/run/lease.go:7"}
		got := cited(res)
		assert.That(t, res.Text == want && slices.Equal(got, places), "%s: the places are %q in\n%s", name, got, res.Text)
	}
}

func TestMapTakesNoLicenceForWhatAFileIsFor(t *testing.T) {
	r, _ := rootOf(t, map[string]string{
		"bare.go":  "// Copyright 2016 Ada. All rights reserved.\n\npackage bare\n",
		"words.go": "// About something else.\n\npackage bare\n",
		"told.js":  "// Copyright 2016 Ada.\n// Under a licence.\n\n// Folds birds.\n// Twice.\nlet a = 1\n",
		"bare.js":  "// Copyright 2016 Ada.\n\nlet b = 1\n",
		"plain.py": "# Folds birds.\n", "code.py": "a = 1\n# Not at the top.\n",
	})
	for file, want := range map[string]string{"bare.go": "bare.go", "words.go": "words.go", "told.js": "told.js:4-5",
		"bare.js": "bare.js:3", "plain.py": "plain.py:1", "code.py": "code.py"} {
		got := cited(callMap(t, r, `{"path":"`+file+`"}`))
		assert.That(t, got[0] == want, "%s: %q, wanted %q", file, got, want)
	}
}

func TestMapOfNothingOrOfSeveralSaysSo(t *testing.T) {
	r, _ := rootOf(t, map[string]string{"a/x.go": "package x\n", "b/x.go": "package x\n", "c/.env": "A=b\n"})
	for name, want := range map[string]string{"y.go": "y.go does not exist",
		"x.go": "several paths end with x.go (name one of them: a/x.go, b/x.go)", "c/.env": "closed",
		".env": "does not exist"} {
		_, err := call(t, r, "repo_map", `{"path":"`+name+`"}`)
		var known *tool.Error
		assert.That(t, errors.As(err, &known) && strings.Contains(err.Error(), want), "%s: %v, want %q", name, err, want)
	}
}

func TestMapShowsHowTheFolderIsBuilt(t *testing.T) {
	r, _ := rootOf(t, map[string]string{
		"README.md":            "# Pool\n\n[![badge](x)](y)\n\nA pool of connections\nfor everyone.\n\nMore.\n",
		"go.mod":               "module example.org/pool\n\ngo 1.26\n",
		"web/package.json":     "{\n  \"name\": \"pool-ui\",\n  \"description\": \"Shows who's in the pool.\"\n}",
		"web/index.ts":         "",
		"pool/pool.go":         "// Package pool keeps connections. They are reused.\npackage pool\n",
		"pool/a.go":            "package pool\n",
		"pool/deep/er/x.go":    "package x\n",
		"py/__init__.py":       "#!x\n\n\"\"\"Says hello.\n\nMore.\"\"\"\n",
		"pool/testdata/go.mod": "module testdata\n",
		".gitignore":           "out/\n", "out/x.go": "package out\n",
	})
	res := callMap(t, r, `{}`)
	want := r.name + `: 10 files: Go 3, other 3, JSON 1, Markdown 1, Python 1, TypeScript 1
example.org/pool
README: A pool of connections for everyone.
files: .gitignore, README.md, go.mod
pool/ 4 files, mostly Go: Package pool keeps connections.
pool/deep/ 1 file, mostly Go
pool/testdata/ 1 file: testdata
py/ 1 file, mostly Python: Says hello.
web/ 2 files, mostly JSON: pool-ui: Shows who's in the pool.
`
	assert.That(t, res.Text == want && res.Items == 5 && string(res.Data) == `{"readme_path":"README.md"}`,
		"%d items, data %s:\n%s", res.Items, res.Data, res.Text)
	res = callMap(t, r, `{"path":"pool","depth":1}`)
	want = r.name + "/pool: 4 files: Go 3, other 1\nPackage pool keeps connections.\nfiles: a.go, " +
		"pool.go\npool/deep/ 1 file, mostly Go\npool/testdata/ 1 file: testdata\n"
	assert.That(t, res.Text == want, "of a folder:\n%s", res.Text)
}

func TestMapReadsWhatManifestsSayTheyAreFor(t *testing.T) {
	r, _ := rootOf(t, map[string]string{
		"a/package.json":   `{"name":"one-line","version":"1"}`,
		"b/pyproject.toml": "[project]\nname = \"py\"\ndescription = 'Sorts.'\n",
		"c/Cargo.toml":     "[package]\nname = \"crate\"\ndescription = \"Folds.\"\n",
		"d/pom.xml":        "<project>\n <artifactId>jar</artifactId>\n <description>Packs.</description>\n",
	})
	res := callMap(t, r, `{}`)
	want := "a/ 1 file, mostly JSON: one-line\nb/ 1 file, mostly TOML: py: Sorts.\nc/ 1 file, mostly TOML: crate: " +
		"Folds.\nd/ 1 file, mostly XML: jar: Packs.\n"
	assert.That(t, strings.Contains(res.Text, want), "the map is\n%s", res.Text)
}

func TestMapOfManyFoldersIsLessDeepThenCut(t *testing.T) {
	files := map[string]string{}
	for i := range maxFolders - 20 {
		files[fmt.Sprintf("a%03d/b/x.go", i)] = ""
		files[fmt.Sprintf("a%03d/c/x.go", i)] = ""
	}
	for _, more := range []int{0, 40} {
		for i := range more {
			files[fmt.Sprintf("z%03d/x.go", i)] = ""
		}
		r, _ := rootOf(t, files)
		res := callMap(t, r, `{}`)
		want := min(maxFolders, maxFolders-20+more)
		assert.That(t, res.Items == want && res.Truncated && strings.Contains(res.Text, "There are more folders"),
			"%d folders, not %d, truncated %v", res.Items, want, res.Truncated)
	}
}
