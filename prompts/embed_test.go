package prompts_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"sibyl/prompts"
)

func read(t *testing.T, fsys fs.FS, name string) string {
	t.Helper()
	data, err := fs.ReadFile(fsys, name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestOverlayReplacesOnlyTheFilesItHolds(t *testing.T) {
	fsys, err := prompts.Overlay(fstest.MapFS{
		"oracle/base.md": {Data: []byte("mine")},
		"README.md":      {Data: []byte("ignored")},
		"oracle/old.txt": {Data: []byte("ignored")},
		".git/notes.md":  {Data: []byte("ignored")},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := read(t, fsys, "oracle/base.md"); got != "mine" {
		t.Errorf("base.md = %q, want the overriding text", got)
	}
	if got, want := read(t, fsys, "oracle/signals.md"), read(t, prompts.FS, "oracle/signals.md"); got != want {
		t.Error("signals.md is not the embedded one")
	}
}

func TestOverlayOfAnEmptyFolderIsTheEmbeddedPrompts(t *testing.T) {
	fsys, err := prompts.Overlay(os.DirFS(t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	names, err := fs.Glob(fsys, "oracle/*.md")
	if err != nil || len(names) != 13 {
		t.Fatalf("files = %v, %v; want the 13 prompts", names, err)
	}
	for _, name := range names {
		if read(t, fsys, name) != read(t, prompts.FS, name) {
			t.Errorf("%s is not the embedded one", name)
		}
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
			if err == nil || !strings.Contains(err.Error(), file) ||
				!strings.Contains(err.Error(), "oracle/signals.md") {
				t.Errorf("error = %v, want one that names %s and the names that exist", err, file)
			}
		})
	}
}

func TestOverlayOfAMissingFolderIsAnError(t *testing.T) {
	_, err := prompts.Overlay(os.DirFS(filepath.Join(t.TempDir(), "nowhere")))
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error = %v, want that the folder does not exist", err)
	}
}

func TestAFolderOfOraclesIsNoPartOfTheOverlay(t *testing.T) {
	fsys, err := prompts.Overlay(fstest.MapFS{"oracle/base.md": {Data: []byte("mine")},
		"oracles/mine.md": {Data: []byte("# Mine")}})
	if err != nil {
		t.Fatal(err)
	}
	if got := read(t, fsys, "oracle/base.md"); got != "mine" {
		t.Errorf("base.md = %q, want the overriding text", got)
	}
	for _, all := range []fs.FS{fsys, prompts.FS} {
		if names, err := fs.Glob(all, "*/*etico.md"); err != nil || len(names) > 0 {
			t.Errorf("oracles among the prompts: %v, %v", names, err)
		}
	}
	if names, err := fs.Glob(prompts.Oracles(), "*.md"); err != nil || len(names) != 24 {
		t.Errorf("oracles: %v, %v", names, err)
	}
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
	fsys, err := prompts.Overlay(deniedFS{fstest.MapFS{"oracle/base.md": {Data: []byte("mine")}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fs.ReadFile(fsys, "oracle/base.md"); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("error = %v, want permission denied", err)
	}
}
