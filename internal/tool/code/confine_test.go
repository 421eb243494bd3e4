package code

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/redact/redacttest"
	"sibyl/internal/tool"
)

const canary = "canary-7c1f"

// attackedRoot is a folder with a secret beside it and links of all sorts in it.
func attackedRoot(t *testing.T) *Root {
	t.Helper()
	top := t.TempDir()
	write(t, filepath.Join(top, "outside", "secret.txt"), canary)
	dir := filepath.Join(top, "root")
	write(t, filepath.Join(dir, "src", "main.go"), "package main\n")
	write(t, filepath.Join(dir, ".env"), canary)
	write(t, filepath.Join(dir, ".git", "config"), canary)
	for name, target := range map[string]string{
		"out-relative": "../outside/secret.txt",
		"out-absolute": filepath.Join(top, "outside", "secret.txt"),
		"out-folder":   "../outside",
		"to-env":       ".env",
		"to-git":       ".git",
		"to-proc":      "/proc/self/environ",
		"to-itself":    "to-itself",
		"src/up":       "..",
		"dangling":     "nowhere",
	} {
		assert.NoError(t, os.Symlink(target, filepath.Join(dir, filepath.FromSlash(name))))
	}
	return open(t, dir)
}

func TestNoPathLeadsOutOfTheRootOrToASecret(t *testing.T) {
	r := attackedRoot(t)
	for path, want := range map[string]tool.Kind{
		"../outside/secret.txt":        tool.Denied,
		"src/../../outside/secret.txt": tool.Denied,
		"..":                           tool.Denied,
		"/etc/passwd":                  tool.Denied,
		"/proc/self/environ":           tool.Denied,
		`\\server\share\x`:             tool.Denied,
		`C:\Windows\win.ini`:           tool.Denied,
		"out-relative":                 tool.Denied,
		"out-absolute":                 tool.Denied,
		"out-folder/secret.txt":        tool.Denied,
		"to-env":                       tool.Denied,
		"to-git/config":                tool.Denied,
		"to-proc":                      tool.Denied,
		"to-itself":                    tool.Denied,
		"src/up/.env":                  tool.Denied,
		"dangling":                     tool.Denied,
		".env":                         tool.Denied,
		".git/config":                  tool.Denied,
		"src/../.git/config":           tool.Denied,
		"src/main.go\x00.png":          tool.InvalidArgs,
		"src/main.go\nforged line":     tool.InvalidArgs,
		"src/main.go/x":                tool.NotFound,
		"src/missing.go":               tool.NotFound,
	} {
		for _, name := range []string{"code_read", "code_search", "repo_map"} {
			args := map[string]any{"path": path}
			if name == "code_search" {
				args["query"] = "canary"
			}
			res, err := call(t, r, name, string(encode(t, args)))
			got := kindOf(err)
			assert.That(t, got == want, "%s %q: %v (%s), want %s", name, path, err, got, want)
			assert.That(t, err == nil || (!strings.Contains(err.Error(), canary) &&
				!strings.Contains(err.Error(), os.TempDir())), "%s %q: the error tells too much: %v", name, path, err)
			assert.That(t, !strings.Contains(res.Text+string(res.Data), canary), "%s %q gave the secret away", name, path)
		}
	}
}

func TestSearchAndMapFollowNoLink(t *testing.T) {
	r := attackedRoot(t)
	d, res := data[SearchData](t, r, "code_search", SearchArgs{Query: canary + " main"})
	assert.That(t, !strings.Contains(res.Text, canary+"\n") && d.Files == 1,
		"searched %d files, want src/main.go alone: %s", d.Files, res.Text)
	assert.That(t, strings.Contains(res.Text, "Skipped: 1 × file that may hold secrets, 9 × link or special file."),
		"want 9 links and 1 secret: %s", res.Text)
	m := callMap(t, r, `{}`)
	assert.That(t, strings.Contains(m.Text, ": 1 file: Go 1\n"), "mapped more than src/main.go:\n%s", m.Text)
}

// TestLinkSwappedInBetweenLookAndOpenIsRefused plays the race at its worst moment.
func TestLinkSwappedInBetweenLookAndOpenIsRefused(t *testing.T) {
	r, dir := rootOf(t, map[string]string{"a.txt": "harmless", ".env": canary, "d/x": "", "secret/x": canary})
	seenFile := assert.Must(r.root.Lstat("a.txt"))(t)
	seenFolder := assert.Must(r.root.Lstat("d"))(t)
	for name, target := range map[string]string{"a.txt": ".env", "d": "secret"} {
		assert.NoError(t, os.RemoveAll(filepath.Join(dir, name)))
		assert.NoError(t, os.Symlink(target, filepath.Join(dir, name)))
	}
	if f, _, err := openRegular(r.root, "a.txt", seenFile); err == nil {
		_ = f.Close()
		t.Error("a file swapped for a link was opened")
	}
	if d, err := openFolder(r.root, seenFolder); err == nil {
		_ = d.Close()
		t.Error("a folder swapped for a link was opened")
	}
}

func TestReadNeverSeesThroughALinkThatComesAndGoes(t *testing.T) {
	r, dir := rootOf(t, map[string]string{"a/f": "harmless", "b/f": canary})
	assert.NoError(t, os.WriteFile(filepath.Join(dir, ".gitignore"), []byte("b/\n"), 0o644))
	real, link := filepath.Join(dir, "real"), filepath.Join(dir, "link")
	assert.NoError(t, os.Symlink("b", link))
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		at := filepath.Join(dir, "a")
		for {
			select {
			case <-stop:
				return
			default:
				_ = os.Rename(at, real)
				_ = os.Rename(link, at)
				_ = os.Rename(at, link)
				_ = os.Rename(real, at)
			}
		}
	}()
	for range 200 {
		if res, err := call(t, r, "code_read", `{"path":"a/f"}`); err == nil && strings.Contains(res.Text, canary) {
			t.Error("read through the link")
			break
		}
	}
	close(stop)
	<-done
}

func TestSecretFilesAreClosedHoweverTheyAreSpelt(t *testing.T) {
	var vectors struct{ Closed, Open []string }
	redacttest.Read(t, "secretfiles.json", &vectors)
	for want, paths := range map[tool.Kind][]string{tool.Denied: vectors.Closed, "": vectors.Open} {
		for _, at := range paths {
			dir := t.TempDir()                                                    // some file systems take two of them for one
			if err := os.Mkdir(filepath.Join(dir, "_darcs"), 0o700); err != nil { // a project, whose hidden folders are read
				t.Fatal(err)
			}
			name := filepath.Join(dir, filepath.FromSlash(at))
			assert.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
			if err := os.WriteFile(name, []byte("one canary\n"), 0o600); err != nil {
				continue // a name that this file system does not take
			}
			r := open(t, dir)
			_, err := call(t, r, "code_read", string(encode(t, ReadArgs{Path: at})))
			assert.That(t, kindOf(err) == want, "%s: %v, want %q", at, err, want)
			d, _ := data[SearchData](t, r, "code_search", SearchArgs{Query: "canary"})
			assert.Equalf(t, len(d.Hits) > 0, (want == ""), "%s was found", at)
		}
	}
}

func TestFolderThatIsTheRootCountsForTheNamesInIt(t *testing.T) {
	dir := filepath.Join(t.TempDir(), ".m2")
	write(t, filepath.Join(dir, "settings.xml"), "<a/>")
	_, err := call(t, open(t, dir), "code_read", `{"path":"settings.xml"}`)
	assert.That(t, kindOf(err) == tool.Denied, "got %v", err)
}

func TestIgnoredFileIsDeniedByNameToo(t *testing.T) {
	r, _ := rootOf(t, map[string]string{
		".gitignore": "build/\n*.log\n", "build/out.go": "package out", "sub/.gitignore": "!keep.log\n/own.txt\n",
		"sub/keep.log": "kept", "sub/a.log": "x", "sub/own.txt": "x", "own.txt": "free",
	})
	for path, want := range map[string]tool.Kind{
		"build/out.go": tool.Denied, "build": tool.Denied, "sub/a.log": tool.Denied, "sub/own.txt": tool.Denied,
		"sub/keep.log": "", "own.txt": "",
	} {
		_, err := call(t, r, "code_read", string(encode(t, ReadArgs{Path: path})))
		assert.That(t, kindOf(err) == want, "%s: %v, want %q", path, err, want)
	}
}

func TestOpenSaysWhatIsWrongWithTheFolder(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "file"), "")
	for path, want := range map[string]string{
		filepath.Join(dir, "missing"): "does not exist",
		filepath.Join(dir, "file"):    "is not a folder",
	} {
		if _, err := Open(path); kindOf(err) != tool.NotFound || !strings.Contains(err.Error(), want) {
			t.Errorf("Open(%q): %v, want %q", path, err, want)
		}
	}
	r := open(t, dir)
	assert.That(t, r.name == filepath.Base(dir), "name is %q", r.name)
}

func TestCallsAfterCloseFail(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a.go"), "package a\n")
	r := assert.Must(Open(dir))(t)
	assert.NoError(t, r.Close())
	for name, args := range everyCall {
		_, err := call(t, r, name, args)
		assert.That(t, kindOf(err) != "", "%s: %v", name, err)
	}
}

func TestLinkIsRefusedWithTheNameOfItsTarget(t *testing.T) {
	r, dir := rootOf(t, map[string]string{"docs/guide.md": "# Guide\n"})
	assert.NoError(t, os.Symlink("docs/guide.md", filepath.Join(dir, "README.md")))
	_, err := call(t, r, "code_read", `{"path":"README.md"}`)
	assert.That(t, kindOf(err) == tool.Denied && strings.Contains(err.Error(), "docs/guide.md"),
		"got %v, want a refusal that names docs/guide.md", err)
}
