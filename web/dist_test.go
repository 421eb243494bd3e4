package web

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
)

// mostForChat is what a browser may load to show a conversation, compressed, in bytes.
const mostForChat = 65_000

func TestPageAsksNobodyElse(t *testing.T) {
	assert.NoError(t, fs.WalkDir(Dist, "dist", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(Dist, path)
		if err != nil {
			return err
		}
		assert.Lacks(t, path, string(text), "src=\"http", "href=\"http", "url(http", "@import", "sourceMappingURL",
			"eval(", "new Function(")
		return nil
	}))
}

// made is what vite tells of a file that it made, by what it made it of.
type made struct {
	File    string
	Imports []string
	CSS     []string
}

func TestConversationIsLoadedWithFewBytes(t *testing.T) {
	text := assert.Must(os.ReadFile("dist/.vite/manifest.json"))(t)
	var all map[string]made
	assert.NoError(t, json.Unmarshal(text, &all))
	for _, language := range []string{"en", "de", "pt"} {
		files := map[string]bool{"index.html": true, "icon.svg": true}
		for _, begin := range []string{"index.html", "virtual:words/first/" + language} {
			gather(t, all, begin, files)
		}
		total := 0
		for file := range files {
			total += packedSize(t, file)
		}
		t.Logf("%s: %d files, %d bytes compressed", language, len(files), total)
		assert.That(t, total <= mostForChat && len(files) >= 5,
			"%s: %d files have %d bytes compressed, at most %d", language, len(files), total, mostForChat)
	}
}

// gather adds a file, its styles and what it imports.
func gather(t *testing.T, all map[string]made, of string, files map[string]bool) {
	t.Helper()
	one, known := all[of]
	assert.Require(t, known, "the page has nothing made of %s", of)
	files[one.File] = true
	for _, style := range one.CSS {
		files[style] = true
	}
	for _, imported := range one.Imports {
		gather(t, all, imported, files)
	}
}

func packedSize(t *testing.T, file string) int {
	t.Helper()
	text := assert.Must(fs.ReadFile(Dist, path.Join("dist", file)))(t)
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	assert.Must(w.Write(text))(t)
	assert.NoError(t, w.Close())
	return packed.Len()
}

// What a page is never told: it sends what the program expects, from its own address.
const ofOtherPrograms = " gone too_many_wrong_tokens no_cookie not_encrypted unknown_host not_json method ambiguous "

// kindsOfProblems are where the program says what kind a problem is of.
var kindsOfProblems = regexp.MustCompile(`tooMany\("(\w+)"|newProblem\(\s*[\w.]+,\s*"(\w+)"|Kind(?:: |, m\.Kind = .*?)"(\w+)"|` +
	`\t\{[\w.]+, [\w.]+, "(\w+)",`)

func TestEachKindOfProblemHasWordsOnThePage(t *testing.T) {
	words := ""
	for _, name := range []string{"common", "problems"} {
		content := assert.Must(os.ReadFile("src/words/" + name + ".ts"))(t)
		words += string(content)
	}
	files := assert.Must(filepath.Glob("../internal/api/*.go"))(t)
	seen := 0
	for _, file := range append(files, "../internal/problem/problem.go") {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		source := assert.Must(os.ReadFile(file))(t)
		for _, found := range kindsOfProblems.FindAllStringSubmatch(string(source), -1) {
			kind := found[1] + found[2] + found[3] + found[4]
			seen++
			assert.That(t, strings.Contains(words, `"problem.`+kind+`":`) || strings.Contains(ofOtherPrograms, " "+kind+" "),
				"%s: the page has no words for %s", file, kind)
		}
	}
	assert.That(t, seen >= 60, "only %d kinds were found", seen)
}
