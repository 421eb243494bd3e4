package code

import (
	"fmt"
	"os"
	"path"
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
)

// harbour is a project with the files that projects keep beside their code, and code that speaks of the same words.
func harbour() map[string]string {
	required, sections := "", ""
	for i := range 60 {
		required += fmt.Sprintf("\texample.com/go-part%d v1.%d.0\n", i, i)
		sections += fmt.Sprintf("## 1.%d.0\n\n- Changed a release in part %d.\n- Kept what a version needs.\n\n", 60-i, i)
	}
	return map[string]string{
		"go.mod":    "module example.com/harbour\n\ngo 1.24.0\n\nrequire (\n" + required + ")\n",
		"LICENSE":   "MIT License\n\nCopyright (c) 2025 Ida Brandt\n\nPermission is hereby granted\n",
		"CHANGELOG": "Every change is told here.\n\n" + sections + "## 0.9.0\n\n- The crane lifts in a gale.\n",
		"web/package.json": "{\n  \"name\": \"pier\",\n  \"engines\": {\"node\": \">=22\"},\n" +
			"  \"scripts\": {\n    \"test\": \"vitest run\"\n  },\n" +
			"  \"dependencies\": {\n    \"@buoys/react\": \"^9.9.9\",\n    \"react\": \"^18.2.0\"\n  }\n}\n",
		"CODEOWNERS":               "* @ida\n",
		"Makefile":                 "lint:\n\tgo vet ./...\n",
		"Dockerfile":               "FROM alpine:3.20\nCOPY harbour /\n",
		".github/workflows/ci.yml": "on: push\njobs:\n  all:\n    steps:\n      - run: make lint\n",
		"license.go":               "package harbour\n\n// License is what a pilot holds; its version counts.\ntype License struct{}\n",
		"version.go": "package harbour\n\n// NeedsVersion says which version a berth plan needs.\n" +
			"func NeedsVersion(plan string) bool { return plan != \"\" }\n\n" +
			"// Release releases a berth that changed.\nfunc Release() {}\n",
		"react.go": "package harbour\n\n// react reacts to an alarm: we use it in each version.\nfunc react() {}\n",
	}
}

func TestQuestionsAboutAProjectFindTheFilesBesideItsCode(t *testing.T) {
	r, _ := rootOf(t, harbour())
	for _, c := range []struct{ question, first, line string }{
		{"Which Go version does this need?", "go.mod", "go 1.24.0"},
		{"minimum Go version", "go.mod", "go 1.24.0"},
		{"Welche Go-Version braucht das?", "go.mod", "go 1.24.0"},
		{"Under which licence is it?", "LICENSE", "MIT License"},
		{"What is the license?", "LICENSE", "MIT License"},
		{"Unter welcher Lizenz steht das?", "LICENSE", "MIT License"},
		{"what changed in the last release?", "CHANGELOG", "## 1.60.0"},
		{"which version of React do we use?", "web/package.json", `"react": "^18.2.0"`},
		{"which node version is needed?", "web/package.json", `"node": ">=22"`},
		{"what does `npm test` run?", "web/package.json", `"test": "vitest run"`},
		{"who maintains this?", "CODEOWNERS", "@ida"},
		{"what is the base image?", "Dockerfile", "FROM alpine:3.20"},
		{"what does the CI pipeline check?", ".github/workflows/ci.yml", "make lint"},

		{"Which version does a berth plan need?", "version.go", "func NeedsVersion"},
		{"Who releases a berth that changed?", "version.go", "func Release"},
		{"What does a pilot's license hold?", "license.go", "type License"},
		{"Since when does the crane lift in a gale?", "CHANGELOG", "## 0.9.0"},
	} {
		d, _ := data[SearchData](t, r, "code_search", SearchArgs{Query: c.question})
		assert.Require(t, len(d.Hits) > 0, "%s: nothing found", c.question)
		h := d.Hits[0]
		lines := strings.Split(harbour()[h.Path], "\n")
		shown := strings.Join(lines[h.From-1:min(h.To, len(lines))], "\n")
		assert.That(t, h.Path == c.first && strings.Contains(shown, c.line), "%s: %s:%d-%d shows\n%s",
			c.question, h.Path, h.From, h.To, shown)
	}
}

func TestAFileThatIsFoundByItsKindIsNotMissing(t *testing.T) {
	r, _ := rootOf(t, map[string]string{"LICENCE": "Do what you like.\n", "a.go": "package a\n"})
	d, _ := data[SearchData](t, r, "code_search", SearchArgs{Query: "licence"})
	assert.Same(t, []string{"LICENCE"}, hitPaths(d))
	assert.That(t, d.Missing == nil && d.Matched == 1, "missing %v, %d matched", d.Missing, d.Matched)
	d, _ = data[SearchData](t, r, "code_search", SearchArgs{Query: "licence", Regex: true})
	assert.That(t, len(d.Hits) == 0, "an expression matches what is in no file: %+v", d.Hits)
}

func TestKindsOfFilesAreToldByTheirNames(t *testing.T) {
	for _, k := range wellKnown() {
		for _, name := range k.names {
			_, err := path.Match(name, "")
			assert.NoErrorf(t, err, "the pattern %s", name)
			assert.That(t, name == strings.ToLower(name), "%s is not in lower case", name)
		}
	}
	for at, words := range map[string]string{
		"LICENSE-MIT": "licence", "docs/Licence.md": "licence", "licenser": "", "license.go": "", "license.json": "",
		"RELEASE_NOTES.txt": "change", "changes": "change", "changes.py": "", "news/a.md": "",
		"web/package.json": "node", "package.jsonx": "", "requirements-dev.txt": "python", "requirements.md": "",
		"a/Dockerfile.dev": "docker", "build.dockerfile": "docker", ".github/workflows/a.yaml": "ci",
		"workflows/a.yaml": "", "x/.circleci/config.yml": "ci", "src/main.go": "",
	} {
		got := ""
		if k := fileKindOf(at); k != nil {
			got, _, _ = strings.Cut(k.words, " ")
		}
		assert.That(t, got == words, "%s is of the kind %q, want %q", at, got, words)
	}
}

func TestAVersionNumberIsAVersionInSettingsOnly(t *testing.T) {
	r, dir := rootOf(t, map[string]string{"Cargo.toml": "[dependencies]\ntokio = \"1.38\"\n", "a.txt": "tokio 1.38\n"})
	d, _ := data[SearchData](t, r, "code_search", SearchArgs{Query: "tokio version"})
	assert.That(t, len(d.Missing) == 0 && d.Hits[0].Path == "Cargo.toml", "%+v", d)
	assert.NoError(t, os.Remove(dir+"/Cargo.toml"))
	d, _ = data[SearchData](t, r, "code_search", SearchArgs{Query: "tokio version"})
	assert.Same(t, []string{"version"}, d.Missing)
}
