package render

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func environment(entries string) func(string) string {
	return func(name string) string {
		for entry := range strings.FieldsSeq(entries) {
			if value, ok := strings.CutPrefix(entry, name+"="); ok {
				return value
			}
		}
		return ""
	}
}

func TestOnlyTerminalsThatAreKnownToLinkDo(t *testing.T) {
	for entries, want := range map[string]bool{
		"":                                     false,
		"TERM=xterm-256color":                  false,
		"TERM=linux":                           false,
		"TERM=xterm-kitty":                     true,
		"TERM=xterm-256color VTE_VERSION=6003": true,
		"TERM=xterm-256color VTE_VERSION=5000": false,
		"TERM_PROGRAM=iTerm.app":               true,
		"TERM_PROGRAM=Apple_Terminal":          false,
		"TERM=tmux-256color TMUX=/x TERM_PROGRAM=tmux TERM_PROGRAM_VERSION=3.4a": true,
		"TERM=tmux-256color TMUX=/x TERM_PROGRAM=tmux TERM_PROGRAM_VERSION=3.3":  false,
		"TERM=screen TMUX=/x VTE_VERSION=6003":                                   false,
		"WT_SESSION=1 NO_COLOR=1":                                                false,
		"WT_SESSION=1 TERM=dumb":                                                 false,
		"WT_SESSION=1 CI=true":                                                   false,
		"WT_SESSION=1 FORCE_HYPERLINK=0":                                         false,
		"TERM=dumb FORCE_HYPERLINK=1":                                            true,
	} {
		if got := CanLink(environment(entries)); got != want {
			t.Errorf("%q: %v", entries, got)
		}
	}
}

func TestCiterFindsFilesBelowItsFoldersOnly(t *testing.T) {
	first, second := t.TempDir(), t.TempDir()
	for _, file := range []string{filepath.Join(first, "a b.go"), filepath.Join(second, "n.md")} {
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	plain, kitty := Citer(environment(""), "", first, second), Citer(environment("TERM=xterm-kitty"), first, second)
	for path, want := range map[string]string{"a b.go": "/a%20b.go", "n.md": "/n.md", "none.go": "",
		"../" + filepath.Base(second) + "/n.md": "", ".": ""} {
		got := plain(path, 3)
		if want == "" && got != "" || !strings.HasSuffix(got, want) || want != "" &&
			!strings.HasPrefix(got, "file://") || strings.Contains(got, "#") {
			t.Errorf("%q is at %q, not %q", path, got, want)
		}
	}
	if got := kitty("n.md", 3); !strings.HasSuffix(got, "/n.md#3") {
		t.Errorf("the line is not named: %q", got)
	}
	if got := plain(filepath.Join(second, "n.md"), 0); !strings.HasSuffix(got, "/n.md") {
		t.Errorf("a whole path is at %q", got)
	}
}
