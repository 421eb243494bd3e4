package web

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
)

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
