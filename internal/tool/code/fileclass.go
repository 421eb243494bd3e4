package code

import (
	"bytes"
	"path"
	"slices"
	"strings"
)

// The kind of a file lowers its rank: an answer is rarely in a test, in generated code or in somebody else's.
const (
	testRank      = 0.5
	vendoredRank  = 0.4
	dataRank      = 0.3 // testdata, fixtures, minified code
	generatedRank = 0.4
	exampleRank   = 0.7
	proseRank     = 0.8
	plainRank     = 0.6 // no known language
)

var folderRanks = map[string]float64{
	"test": testRank, "tests": testRank, "__tests__": testRank, "spec": testRank, "specs": testRank, "e2e": testRank,
	"testdata": dataRank, "fixtures": dataRank, "__snapshots__": dataRank, "golden": dataRank, "dist": dataRank,
	"vendor": vendoredRank, "node_modules": vendoredRank, "third_party": vendoredRank, "thirdparty": vendoredRank,
	"external": vendoredRank,
	"examples": exampleRank, "example": exampleRank, "samples": exampleRank, "bench": exampleRank,
	"benchmark": exampleRank, "benchmarks": exampleRank,
}

// checksums are files in which tools list what a project depends on.
var checksums = []string{"go.sum", "package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "packages.lock.json",
	"gradle.lockfile"}

var testName = pattern(`(?i)(_test|_tests|_spec|\.test|\.spec|-test)\.[a-z]+$|^test_|^conftest\.py$` +
	`|(Test|Tests|Spec)\.(java|kt|cs|scala|swift|php)$`)

func isTest(at string) bool {
	dir, name := path.Split(at)
	for part := range strings.SplitSeq(strings.TrimSuffix(dir, "/"), "/") {
		if folderRanks[part] == testRank {
			return true
		}
	}
	return testName().MatchString(name)
}

// rankOfPath says by its path how likely a file is to hold an answer, 0 to 1. If tests is set, the question is about
// tests, which then rank as other files do.
func rankOfPath(at string, tests bool) float64 { return rankOfPlace(at, tests) * rankOfFormat(at) }

// rankOfPlace judges the folders of a file, and whether its name is that of a test or of data.
func rankOfPlace(at string, tests bool) float64 {
	rank := 1.0
	dir, name := path.Split(at)
	for part := range strings.SplitSeq(strings.TrimSuffix(dir, "/"), "/") {
		if r, ok := folderRanks[strings.TrimLeft(part, "_.")]; ok && !(tests && r == testRank) {
			rank = min(rank, r)
		}
	}
	// the plain comparison before the expression is ten times cheaper
	if !tests && holdsFolded(name, "test", "spec") && testName().MatchString(name) {
		rank = min(rank, testRank)
	}
	if strings.Contains(name, ".min.") {
		rank = min(rank, dataRank)
	}
	return rank
}

// rankOfFormat judges in what form a file is written.
func rankOfFormat(at string) float64 {
	name := path.Base(at)
	switch l, k := languageOf(at, nil), fileKindOf(at); {
	case strings.Contains(name, ".min."): // its place says it
	case strings.HasSuffix(name, ".pb.go"), strings.HasPrefix(name, "zz_generated"), strings.HasSuffix(name, ".lock"),
		slices.Contains(checksums, name):
		return generatedRank
	case k != nil && !k.settings: // legal texts, lists of changes: what a list of changes says may not be true today
		return dataRank
	case l.name == "Assembly":
		return exampleRank
	case l == languages().unknown:
		return plainRank
	case !l.defines:
		return proseRank
	}
	return 1
}

// holdsFolded says whether a text contains one of the words, which are in lower case, without regard to case.
func holdsFolded(text string, words ...string) bool {
	text = strings.ToLower(text)
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(text, word) })
}

var generatedMark = pattern(`(?mi)^\W{0,4}\s*(code generated\b.*|@generated\b.*|.*\bdo not edit\b.*)$`)

// rankOfContent lowers files that say they are generated and those with lines that no person writes.
func rankOfContent(content []byte) float64 {
	head := content[:min(len(content), 2<<10)]
	switch {
	case holdsFolded(string(head), "generated", "do not edit") && generatedMark().Match(head):
		return generatedRank
	case len(content) > 5000 && len(content)/(bytes.Count(content, []byte("\n"))+1) > 300:
		return dataRank
	}
	return 1
}
