package code

import "testing"

func TestChecksumsAndLicencesAreNoAnswers(t *testing.T) {
	for at, below := range map[string]string{"go.sum": "go.mod", "web/package-lock.json": "web/package.json", "LICENSE": "README.md", "COPYING.txt": "notes.txt"} {
		if low, high := rankOfPath(at, false), rankOfPath(below, false); low >= high {
			t.Errorf("%s ranks %.2f, %s %.2f", at, low, below, high)
		}
	}
}

func TestOldEntriesOfAListOfChangesCountLess(t *testing.T) {
	if first, last := rankOfAge("docs/CHANGELOG.md", 1, 400), rankOfAge("docs/CHANGELOG.md", 390, 400); last >= first || last < 1-outdated {
		t.Errorf("the first entry counts %.2f, the last %.2f", first, last)
	}
	for _, at := range []string{"history.go.md.bak/a.go", "main.go", "README.md"} {
		if got := rankOfAge(at, 390, 400); got != 1 {
			t.Errorf("%s is no list of changes and counts %.2f", at, got)
		}
	}
}

func TestNewestEntryOfAListOfChangesComesFirst(t *testing.T) {
	entry := func(version, text string) string {
		return "## " + version + "\n\n- " + text + "\n- Other things, which nobody asks about.\n\n"
	}
	text := "# Changelog\n\n" + entry("v3", "Minimum toolchain version is 9")
	for range 30 {
		text += entry("v2", "Faster.")
	}
	text += entry("v1", "Minimum toolchain version is 4")
	r, _ := tree(t, map[string]string{"CHANGELOG.md": text})
	data, _ := data[SearchData](t, r, "code_search", SearchArgs{Query: "What is the minimum toolchain version?"})
	if len(data.Hits) < 2 || data.Hits[0].Start > 10 {
		t.Errorf("the first of %d hits begins at line %d", len(data.Hits), data.Hits[0].Start)
	}
}
