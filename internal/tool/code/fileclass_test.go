package code

import "testing"

func TestChecksumsLicencesAndOldChangesAreNoAnswers(t *testing.T) {
	for at, below := range map[string]string{
		"go.sum": "go.mod", "web/package-lock.json": "web/package.json", "LICENSE": "README.md",
		"COPYING.txt": "notes.txt", "docs/CHANGELOG.md": "docs/manual.md",
	} {
		if low, high := rankOfPath(at, false), rankOfPath(below, false); low >= high {
			t.Errorf("%s ranks %.2f, %s %.2f", at, low, below, high)
		}
	}
	if rankOfPath("history.go", false) != 1 {
		t.Error("source code is taken for a list of changes by its name")
	}
}
