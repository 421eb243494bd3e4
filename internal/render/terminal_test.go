package render

import (
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
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
		assert.Equalf(t, CanLink(environment(entries)), want, "%q", entries)
	}
}

func TestCiterFindsFilesBelowItsFoldersOnly(t *testing.T) {
	first, second := t.TempDir(), t.TempDir()
	for _, file := range []string{filepath.Join(first, "a b.go"), filepath.Join(second, "n.md")} {
		assert.NoError(t, os.WriteFile(file, nil, 0o600))
	}
	plain, kitty := Citer(environment(""), "", first, second), Citer(environment("TERM=xterm-kitty"), first, second)
	for path, want := range map[string]string{"a b.go": "/a%20b.go", "n.md": "/n.md", "none.go": "",
		"../" + filepath.Base(second) + "/n.md": "", ".": ""} {
		got := plain(path, 3)
		assert.That(t, (want != "" || got == "") && strings.HasSuffix(got, want) && (want == "" ||
			strings.HasPrefix(got, "file://")) && !strings.Contains(got, "#"), "%q is at %q, not %q", path, got, want)
	}
	got := kitty("n.md", 3)
	assert.That(t, strings.HasSuffix(got, "/n.md#3"), "the line is not named: %q", got)
	got = plain(filepath.Join(second, "n.md"), 0)
	assert.That(t, strings.HasSuffix(got, "/n.md"), "a whole path is at %q", got)
}

// luminance is how bright a colour is, from 0 to 1, as WCAG 2 defines it.
func luminance(red, green, blue int) float64 {
	linear := func(c int) float64 {
		if v := float64(c) / 255; v > 0.04045 {
			return math.Pow((v+0.055)/1.055, 2.4)
		}
		return float64(c) / 255 / 12.92
	}
	return 0.2126*linear(red) + 0.7152*linear(green) + 0.0722*linear(blue)
}

// TestColoursCanBeReadOnLightAndDarkTerminals holds the contrast of each colour that is used against the grounds that
// terminals have: nothing is asked of the terminal, so that one colour has to do for all.
func TestColoursCanBeReadOnLightAndDarkTerminals(t *testing.T) {
	// WCAG's for large text and for marks; 4.58 is the most that one colour can have against black and white
	const least = 3
	grounds := map[string]float64{"white": luminance(255, 255, 255), "Solarized's light": luminance(253, 246, 227),
		"black": luminance(0, 0, 0), "dark grey": luminance(30, 30, 30), "Solarized's dark": luminance(0, 43, 54)}
	level := func(n int) int { return []int{0, 95, 135, 175, 215, 255}[n%6] }
	for _, code := range codes {
		number, isColour := strings.CutPrefix(code, "38;5;")
		if !isColour {
			n, err := strconv.Atoi(code)
			assert.That(t, err == nil && n < 10, "%q is no look, and no colour of the palette whose value is known", code)
			continue
		}
		n, err := strconv.Atoi(number)
		assert.Require(t, err == nil && n >= 16 && n <= 231, "%q is not one of the cube, which themes leave as it is", code)
		colour := luminance(level((n-16)/36), level((n-16)/6), level(n-16))
		for name, ground := range grounds {
			contrast := (max(colour, ground) + 0.05) / (min(colour, ground) + 0.05)
			assert.That(t, contrast >= least, "%q has a contrast of %.1f on %s, want %d", code, contrast, name, least)
		}
	}
}
