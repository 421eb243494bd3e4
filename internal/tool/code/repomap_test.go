package code

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMapShowsHowTheFolderIsBuilt(t *testing.T) {
	r, _ := tree(t, map[string]string{
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
	d, res := data[MapData](t, r, "repo_map", MapArgs{})
	want := MapData{
		Name: r.name, Path: ".", Files: 10,
		Languages: []LanguageCount{{"Go", 3}, {"other", 3}, {"JSON", 1}, {"Markdown", 1}, {"Python", 1}, {"TypeScript", 1}},
		Readme:    "A pool of connections for everyone.", ReadmePath: "README.md",
		Modules: []Module{{Path: "go.mod", Name: "example.org/pool"}, {"web/package.json", "pool-ui", "Shows who's in the pool.", 3}},
		Folders: []Folder{
			{"pool", 4, "Go", "Package pool keeps connections."}, {"pool/deep", 1, "Go", ""}, {"pool/testdata", 1, "", ""},
			{"py", 1, "Python", "Says hello."}, {"web", 2, "JSON", ""},
		},
	}
	if diff := cmp.Diff(want, d); diff != "" {
		t.Error(diff)
	}
	if res.Items != 5 || !strings.Contains(res.Text, "pool/ 4 files, mostly Go: Package pool keeps connections.\n") {
		t.Errorf("%d items: %s", res.Items, res.Text)
	}
	d, _ = data[MapData](t, r, "repo_map", MapArgs{Path: "pool", Depth: 1})
	if diff := cmp.Diff([]Folder{{"pool/deep", 1, "Go", ""}, {"pool/testdata", 1, "", ""}}, d.Folders); diff != "" || d.Files != 4 {
		t.Errorf("%d files, %s", d.Files, diff)
	}
}

func TestMapReadsWhatManifestsSayTheyAreFor(t *testing.T) {
	r, _ := tree(t, map[string]string{
		"a/package.json": `{"name":"one-line","version":"1"}`, "b/pyproject.toml": "[project]\nname = \"py\"\ndescription = 'Sorts.'\n",
		"c/Cargo.toml": "[package]\nname = \"crate\"\ndescription = \"Folds.\"\n", "d/pom.xml": "<project>\n <artifactId>jar</artifactId>\n <description>Packs.</description>\n",
	})
	d, res := data[MapData](t, r, "repo_map", MapArgs{})
	want := []Module{{Path: "a/package.json", Name: "one-line"}, {"b/pyproject.toml", "py", "Sorts.", 3}, {"c/Cargo.toml", "crate", "Folds.", 3}, {"d/pom.xml", "jar", "Packs.", 3}}
	if diff := cmp.Diff(want, d.Modules); diff != "" || len(res.Refs) != 3 || res.Refs[0].String() != "b/pyproject.toml:3" {
		t.Errorf("%+v, %s", res.Refs, diff)
	}
}

func TestMapOfManyFoldersIsLessDeepThenCut(t *testing.T) {
	files := map[string]string{}
	for i := range maxFolders - 20 {
		files[fmt.Sprintf("a%03d/b/x.go", i)] = ""
		files[fmt.Sprintf("a%03d/c/x.go", i)] = ""
	}
	r, _ := tree(t, files)
	d, res := data[MapData](t, r, "repo_map", MapArgs{})
	if len(d.Folders) != maxFolders-20 || !res.Truncated || !strings.Contains(res.Text, "There are more folders") {
		t.Errorf("%d folders, truncated %v", len(d.Folders), res.Truncated)
	}
	for i := range 40 {
		files[fmt.Sprintf("z%03d/x.go", i)] = ""
	}
	r, _ = tree(t, files)
	if d, res := data[MapData](t, r, "repo_map", MapArgs{}); len(d.Folders) != maxFolders || d.Files != len(files) || !res.Truncated {
		t.Errorf("%d folders, %d files, truncated %v", len(d.Folders), d.Files, res.Truncated)
	}
}
