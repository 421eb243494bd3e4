package internal

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
)

// documents are all documents of the repository by their names: Markdown that is neither a prompt nor data of a test.
func documents(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	read := func(file string) {
		text := assert.Must(os.ReadFile(file))(t)
		texts[filepath.ToSlash(strings.TrimPrefix(file, ".."+string(filepath.Separator)))] = string(text)
	}
	for _, name := range []string{"README.md", "SECURITY.md", "CHANGELOG.md", "eval/README.md",
		"eval/training/README.md", "internal/api/client/README.md"} {
		read(filepath.Join("..", filepath.FromSlash(name)))
	}
	assert.NoError(t, filepath.WalkDir(filepath.Join("..", "docs"), func(file string, _ fs.DirEntry, err error) error {
		if err == nil && filepath.Ext(file) == ".md" {
			read(file)
		}
		return err
	}))
	return texts
}

// What nobody reads to its end helps nobody.
func TestDocumentsStayShort(t *testing.T) {
	most := func(name string) int {
		switch {
		case name == "README.md":
			return 1000
		case slices.Contains([]string{"docs/getting-started.md", "docs/oracle.md", "docs/tasks.md", "docs/council.md",
			"docs/inquiry.md"}, name):
			return 600
		case name == "SECURITY.md":
			return 1800
		case strings.HasPrefix(name, "docs/decisions/"):
			return 120
		}
		return 4000
	}
	all := 0
	for name, text := range documents(t) {
		words := len(strings.Fields(text))
		all += words
		assert.That(t, words <= most(name), "%s has %d words; at most %d", name, words, most(name))
	}
	assert.That(t, all <= 30_000 && all >= 10_000, "the documents have %d words together; at most 30,000", all)
}

func TestLinksBetweenDocumentsLeadSomewhere(t *testing.T) {
	var (
		blocks  = regexp.MustCompile("(?s)```.*?```")
		link    = regexp.MustCompile(`\]\(([^)#\s]*)(?:#([^)\s]*))?\)`)
		heading = regexp.MustCompile(`(?m)^#+ (.*)$`)
		dropped = regexp.MustCompile(`[^\p{L}\p{N}_\- ]`)
		found   = 0
	)
	texts := documents(t)
	for name, text := range texts {
		for _, m := range link.FindAllStringSubmatch(blocks.ReplaceAllString(text, ""), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			found++
			target := name
			if m[1] != "" {
				target = filepath.ToSlash(filepath.Join(filepath.Dir(name), m[1]))
			}
			if _, err := os.Stat(filepath.Join("..", target)); err != nil {
				t.Errorf("%s: %s does not exist", name, m[1])
				continue
			}
			var places []string
			for _, h := range heading.FindAllStringSubmatch(blocks.ReplaceAllString(texts[target], ""), -1) {
				places = append(places, strings.ReplaceAll(dropped.ReplaceAllString(strings.ToLower(h[1]), ""),
					" ", "-"))
			}
			assert.That(t, m[2] == "" || slices.Contains(places, m[2]), "%s: %s has no heading %s", name, target, m[2])
		}
	}
	assert.That(t, found >= 60, "only %d links were found: the documents are read in the wrong way", found)
}
