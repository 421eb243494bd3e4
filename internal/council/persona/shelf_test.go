package persona

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sibyl/internal/behaviour/assert"
)

// put writes a file that looks as if it had been there for long.
func put(t testing.TB, dir, name, text string) string {
	t.Helper()
	file := filepath.Join(dir, name)
	assert.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	age(t, file, time.Hour)
	return file
}

func age(t testing.TB, file string, by time.Duration) {
	t.Helper()
	then := time.Now().Add(-by)
	assert.NoError(t, os.Chtimes(file, then, then))
}

// folder is a folder by its path without links.
func folder(t testing.TB) string {
	t.Helper()
	dir := assert.Must(filepath.EvalSymlinks(t.TempDir()))(t)
	return dir
}

func list(t testing.TB, s *Shelf) Listing {
	t.Helper()
	l := assert.Must(s.List(context.Background()))(t)
	return l
}

func namesOf(l Listing) (names []string) {
	for _, p := range l.Oracles {
		names = append(names, p.Name)
	}
	return names
}

func link(t *testing.T, to, from string) {
	t.Helper()
	if err := os.Symlink(to, from); err != nil {
		t.Skip("this system has no links:", err)
	}
}

func TestListTakesTheMarkdownFilesOfTheTopLevel(t *testing.T) {
	dir := folder(t)
	put(t, dir, "b.md", "# Zoe")
	put(t, dir, "c.MD", "# Álvaro")
	for _, other := range []string{"README.md", "readme.md", ".hidden.md", "note.txt", "md"} {
		put(t, dir, other, "# No")
	}
	assert.NoError(t, os.Mkdir(filepath.Join(dir, "deep"), 0o755))
	put(t, filepath.Join(dir, "deep"), "d.md", "# No")
	l := list(t, New(Config{Dir: dir}))
	assert.Same(t, []string{"Álvaro", "Zoe"}, namesOf(l))
	assert.That(t, len(l.Skipped) == 0, "skipped: %v", l.Skipped)
	p := l.Oracles[1]
	assert.That(t, p.File == filepath.Join(dir, "b.md") && p.ID == idOf(p.File), "%+v", p)
}

func TestListSkipsWhatCannotBeUsedWithItsReason(t *testing.T) {
	dir := folder(t)
	put(t, dir, "good.md", "# Good")
	put(t, dir, "utf16.md", "\xff\xfe#\x00")
	put(t, dir, "empty.md", "")
	assert.NoError(t, os.Mkdir(filepath.Join(dir, "folder.md"), 0o755))
	link(t, filepath.Join(dir, "nowhere"), filepath.Join(dir, "dangling.md"))
	link(t, "circle.md", filepath.Join(dir, "circle.md"))
	l := list(t, New(Config{Dir: dir}))
	assert.Same(t, []string{"Good"}, namesOf(l))
	var got []string
	for _, s := range l.Skipped {
		reason, _, _ := strings.Cut(s.Reason, ";")
		got = append(got, filepath.Base(s.File)+": "+reason)
	}
	want := []string{"circle.md: it cannot be read: too many levels of symbolic links",
		"dangling.md: it does not exist: it was removed, or is a dangling link",
		"empty.md: it is empty", "folder.md: it is a folder", "utf16.md: it is UTF-16"}
	diff := cmp.Diff(want[1:], got[1:])
	assert.That(t, diff == "" && strings.HasPrefix(got[0], "circle.md: it cannot be read"), "%v %v", diff, got[0])
}

func TestTwoLinksToOneFileAreOneOracle(t *testing.T) {
	dir, other := folder(t), folder(t)
	file := put(t, dir, "real.md", "No title.")
	outside := put(t, other, "outside.txt", "# Outside")
	link(t, file, filepath.Join(dir, "a-link.md"))
	link(t, outside, filepath.Join(dir, "one.md"))
	link(t, outside, filepath.Join(dir, "two.md"))
	way := filepath.Join(folder(t), "way")
	link(t, dir, way)
	l := list(t, New(Config{Dir: way}))
	diff := cmp.Diff([]string{"Outside", "real"}, namesOf(l))
	assert.Require(t, diff == "", "%v", diff)
	assert.That(t, l.Oracles[0].File == outside && l.Oracles[1].File == file && l.Oracles[1].ID == idOf(file),
		"files: %s, %s", l.Oracles[0].File, l.Oracles[1].File)
}

func TestListTakesAThousandFilesAtMostAndSaysSo(t *testing.T) {
	dir := folder(t)
	for i := range MaxFiles + 2 {
		put(t, dir, fmt.Sprintf("%04d.md", i), fmt.Sprintf("# O%04d", i))
	}
	l := list(t, New(Config{Dir: dir}))
	assert.That(t, len(l.Oracles) == MaxFiles && l.Oracles[MaxFiles-1].Name == "O0999", "%d oracles", len(l.Oracles))
	assert.That(t, len(l.Skipped) == 1 &&
		l.Skipped[0].Reason == "2 of its files are left out, from 1000.md on: the folder has more than 1000",
		"skipped: %v", l.Skipped)
}

func TestAMissingFolderIsAnErrorThatNamesTheSetting(t *testing.T) {
	_, err := New(Config{Dir: filepath.Join(folder(t), "nowhere")}).List(context.Background())
	assert.That(t, errors.Is(err, fs.ErrNotExist) && strings.Contains(err.Error(), "ORACLES_DIR"), "error = %v", err)
	_, err = New(Config{Dir: put(t, folder(t), "file", "x")}).List(context.Background())
	assert.That(t, err != nil, "a file is taken for a folder")
}

func TestAListingIsRememberedForItsTime(t *testing.T) {
	dir := folder(t)
	file := put(t, dir, "a.md", "# One")
	now := time.Date(2025, 12, 20, 10, 0, 0, 0, time.UTC)
	s := New(Config{Dir: dir, TTL: 10 * time.Second, Now: func() time.Time { return now }})
	expect := func(when, want string) {
		t.Helper()
		assert.Equalf(t, strings.Join(namesOf(list(t, s)), ", "), want, "%s", when)
	}
	expect("at first", "One")
	put(t, dir, "a.md", "# Two")
	expect("within the time", "One")
	now = now.Add(10 * time.Second)
	expect("after it", "Two")
	assert.NoError(t, os.Remove(file))
	now = now.Add(-time.Hour)
	expect("when the clock was put back", "")
}

func TestTwoOraclesOfOneNameAreWarnedOf(t *testing.T) {
	dir := folder(t)
	put(t, dir, "a.md", "# Cético")
	put(t, dir, "b.md", "# CETICO")
	put(t, dir, "c.md", "# Other")
	s := New(Config{Dir: dir})
	for range 2 { // the warnings do not grow
		l := list(t, s)
		for i, other := range []string{"b.md", "a.md"} {
			w := l.Oracles[i].Warnings
			assert.That(t, len(w) == 1 && strings.HasPrefix(w[0], other+" has the same name"), "%s: %q", l.Oracles[i].File, w)
		}
		w := l.Oracles[2].Warnings
		assert.That(t, len(w) == 0, "other: %q", w)
	}
}

func TestAListingBelongsToWhoAskedForIt(t *testing.T) {
	s := New(Config{})
	l := list(t, s)
	l.Oracles[0].Name, l.Oracles[0].Warnings = "changed", append(l.Oracles[0].Warnings, "changed")
	if again := list(t, s); again.Oracles[0].Name == "changed" || len(again.Oracles[0].Warnings) > 0 {
		t.Error("a listing that was given out changes the next")
	}
}

func TestOracleIsTellingOfItselfByItsFirstSentence(t *testing.T) {
	for content, want := range map[string]string{
		"# Ada\n\nYou are Dr. Ada, who\ndoubts. You ask.\n":     "You are Dr. Ada, who doubts.",
		"# Ada\n## Who\n{{CONTEXT}}\n\nAsk first! Then go.":     "Ask first!",
		"No title, and one line":                                "No title, and one line",
		"# Ada\n\n{{CONTEXT}}\n":                                "",
		"# Ada\nBefore the placeholder.\n{{CONTEXT}}\nAfter it": "Before the placeholder.",
	} {
		assert.Equalf(t, (&Persona{Content: content, Placeholder: "{{CONTEXT}}"}).about(), want, "%q is about", content)
	}
}
