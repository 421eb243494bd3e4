package prompts_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"sibyl/internal/behaviour/assert"
	"sibyl/prompts"
)

func read(t *testing.T, fsys fs.FS, name string) string {
	t.Helper()
	data := assert.Must(fs.ReadFile(fsys, name))(t)
	return string(data)
}

func TestOverlayReplacesOnlyTheFilesItHolds(t *testing.T) {
	fsys := assert.Must(prompts.Overlay(fstest.MapFS{
		"oracle/base.md": {Data: []byte("mine")},
		"README.md":      {Data: []byte("ignored")},
		"oracle/old.txt": {Data: []byte("ignored")},
		".git/notes.md":  {Data: []byte("ignored")},
	}))(t)
	got := read(t, fsys, "oracle/base.md")
	assert.That(t, got == "mine", "base.md = %q, want the overriding text", got)
	got, want := read(t, fsys, "oracle/signals.md"), read(t, prompts.FS, "oracle/signals.md")
	assert.That(t, got == want, "signals.md is not the embedded one")
}

func TestOverlayOfAnEmptyFolderIsTheEmbeddedPrompts(t *testing.T) {
	fsys := assert.Must(prompts.Overlay(os.DirFS(t.TempDir())))(t)
	names, err := fs.Glob(fsys, "oracle/*.md")
	assert.Require(t, err == nil && len(names) == 19, "files = %v, %v; want the 19 prompts", names, err)
	for _, name := range names {
		assert.That(t, read(t, fsys, name) == read(t, prompts.FS, name), "%s is not the embedded one", name)
	}
}

func TestOverlayRefusesAFileThatReplacesNothing(t *testing.T) {
	for name, file := range map[string]string{
		"misspelt":               "oracle/signal.md",
		"without its folder":     "base.md",
		"of another letter case": "oracle/BASE.MD",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := prompts.Overlay(fstest.MapFS{file: {Data: []byte("mine")}})
			assert.That(t, err != nil && strings.Contains(err.Error(), file) &&
				strings.Contains(err.Error(), "oracle/signals.md"),
				"error = %v, want one that names %s and the names that exist", err, file)
		})
	}
}

func TestOverlayOfAMissingFolderIsAnError(t *testing.T) {
	_, err := prompts.Overlay(os.DirFS(filepath.Join(t.TempDir(), "nowhere")))
	assert.That(t, errors.Is(err, fs.ErrNotExist), "error = %v, want that the folder does not exist", err)
}

func TestAFolderOfOraclesIsNoPartOfTheOverlay(t *testing.T) {
	fsys := assert.Must(prompts.Overlay(fstest.MapFS{"oracle/base.md": {Data: []byte("mine")},
		"oracles/mine.md": {Data: []byte("# Mine")}}))(t)
	got := read(t, fsys, "oracle/base.md")
	assert.That(t, got == "mine", "base.md = %q, want the overriding text", got)
	for _, all := range []fs.FS{fsys, prompts.FS} {
		names, err := fs.Glob(all, "*/*etico.md")
		assert.That(t, err == nil && len(names) == 0, "oracles among the prompts: %v, %v", names, err)
	}
	names, err := fs.Glob(prompts.Oracles(), "*.md")
	assert.That(t, err == nil && len(names) == 24, "oracles: %v, %v", names, err)
}

// deniedFS holds one file that exists and may not be read.
type deniedFS struct{ fstest.MapFS }

func (d deniedFS) Open(name string) (fs.File, error) {
	if name == "oracle/base.md" {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	return d.MapFS.Open(name)
}

func TestOverlayNeverServesTheEmbeddedTextForAnUnreadableFile(t *testing.T) {
	fsys := assert.Must(prompts.Overlay(deniedFS{fstest.MapFS{"oracle/base.md": {Data: []byte("mine")}}}))(t)
	_, err := fs.ReadFile(fsys, "oracle/base.md")
	assert.That(t, errors.Is(err, fs.ErrPermission), "error = %v, want permission denied", err)
}

func TestPromptThatNoModelCanBeToldIsFound(t *testing.T) {
	for name, c := range map[string]struct{ text, wrong string }{
		"as it should be": {"Read it.\n", ""},
		"blank":           {" \n\t", "it is empty"},
		"no UTF-8":        {"R\xffad", "it is not UTF-8"},
		"endless":         {strings.Repeat("a", prompts.MostBytes+1), "it is too long"},
	} {
		t.Run(name, func(t *testing.T) {
			text, err := prompts.Read(fstest.MapFS{"tasks/intent.md": {Data: []byte(c.text)}}, "tasks/intent.md")
			assert.That(t, (err == nil) == (c.wrong == "") && (err == nil || strings.Contains(err.Error(), c.wrong)) &&
				len(text) <= prompts.MostBytes && strings.HasPrefix(text, c.text[:1]), "%d bytes, %v", len(text), err)
		})
	}
	_, err := prompts.Read(fstest.MapFS{}, "tasks/intent.md")
	assert.That(t, err != nil, "a file that is not there is read")
}

func TestPromptsThatAreBuiltInCanAllBeUsed(t *testing.T) {
	names, err := prompts.Names()
	assert.Require(t, err == nil && len(names) >= 20, "%d prompts, %v", len(names), err)
	for _, name := range names {
		_, err := prompts.Read(prompts.FS, name)
		assert.That(t, err == nil, "%s: %v", name, err)
	}
}
