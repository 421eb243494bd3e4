package web

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// What a page is never told: it sends what the program expects, from its own address.
const ofOtherPrograms = " gone too_many_wrong_tokens no_cookie not_encrypted unknown_host not_json method ambiguous "

// kindsOfProblems are where the program says what kind a problem is of.
var kindsOfProblems = regexp.MustCompile(`tooMany\("(\w+)"|newProblem\(\s*[\w.]+,\s*"(\w+)"|Kind(?:: |, m\.Kind = .*?)"(\w+)"|` +
	`\t\{[\w.]+, [\w.]+, "(\w+)",`)

func TestEachKindOfProblemHasWordsOnThePage(t *testing.T) {
	words := ""
	for _, name := range []string{"common", "problems"} {
		content, err := os.ReadFile("src/words/" + name + ".ts")
		if err != nil {
			t.Fatal(err)
		}
		words += string(content)
	}
	files, err := filepath.Glob("../internal/api/*.go")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, file := range append(files, "../internal/problem/problem.go") {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range kindsOfProblems.FindAllStringSubmatch(string(source), -1) {
			kind := found[1] + found[2] + found[3] + found[4]
			seen++
			if !strings.Contains(words, `"problem.`+kind+`":`) && !strings.Contains(ofOtherPrograms, " "+kind+" ") {
				t.Errorf("%s: the page has no words for %s", file, kind)
			}
		}
	}
	if seen < 60 {
		t.Errorf("only %d kinds were found", seen)
	}
}
