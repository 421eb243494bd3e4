package code

import (
	"testing"

	"sibyl/internal/behaviour/assert"
)

func TestChecksumsLicencesAndOldChangesAreNoAnswers(t *testing.T) {
	for at, below := range map[string]string{
		"go.sum": "go.mod", "web/package-lock.json": "web/package.json", "LICENSE": "README.md",
		"COPYING.txt": "notes.txt", "docs/CHANGELOG.md": "docs/manual.md",
	} {
		low, high := rankOfPath(at, false), rankOfPath(below, false)
		assert.That(t, low < high, "%s ranks %.2f, %s %.2f", at, low, below, high)
	}
	assert.That(t, rankOfPath("history.go", false) == 1, "source code is taken for a list of changes by its name")
}
