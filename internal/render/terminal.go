package render

import (
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// CanLink reports whether the terminal of an environment makes links of OSC 8 clickable; false for unknown ones, since
// some print the sequence. FORCE_HYPERLINK overrides: 0 means no, any other value yes.
func CanLink(env func(name string) string) bool {
	if forced := env("FORCE_HYPERLINK"); forced != "" {
		return forced != "0"
	}
	term, program := env("TERM"), env("TERM_PROGRAM")
	switch {
	case env("NO_COLOR") != "" || term == "dumb" || env("CI") != "":
		return false
	case program == "tmux":
		return isAtLeast(env("TERM_PROGRAM_VERSION"), 3, 4)
	case env("TMUX") != "" || env("STY") != "": // they hide which terminal they run in
		return false
	case env("WT_SESSION") != "" || env("KITTY_WINDOW_ID") != "" || env("DOMTERM") != "" ||
		env("KONSOLE_VERSION") != "":
		return true
	}
	if vte, err := strconv.Atoi(env("VTE_VERSION")); err == nil {
		return vte > 5000 // 0.50.0 crashes on links
	}
	return slices.Contains([]string{"iTerm.app", "WezTerm", "vscode", "ghostty", "rio", "Hyper", "Tabby"}, program) ||
		slices.Contains([]string{"xterm-kitty", "xterm-ghostty", "alacritty", "foot", "foot-extra", "contour",
			"wezterm"}, term)
}

// isAtLeast reports whether a version like 3.4a is at least major.minor; false if it can't be parsed.
func isAtLeast(version string, major, minor int) bool {
	first, second, _ := strings.Cut(version, ".")
	second = strings.TrimRightFunc(second, func(r rune) bool { return r < '0' || r > '9' })
	a, err1 := strconv.Atoi(first)
	b, err2 := strconv.Atoi(second)
	return err1 == nil && err2 == nil && (a > major || a == major && b >= minor)
}

// Citer returns a function for Options.Cite that links to existing files of this machine; it looks for a relative path
// below each folder in turn. Links have the line only for kitty, since other terminals take #line as part of the name.
func Citer(env func(name string) string, folders ...string) func(path string, line int) string {
	host, err := os.Hostname()
	if err != nil {
		host = ""
	}
	lines := env("TERM") == "xterm-kitty"
	known := map[string]string{} // text that streams in is laid out more than once
	return func(path string, line int) string {
		file, seen := known[path]
		if !seen {
			file = findFile(path, folders)
			known[path] = file
		}
		if file == "" {
			return ""
		}
		to := url.URL{Scheme: "file", Host: host, Path: filepath.ToSlash(file)}
		if !strings.HasPrefix(to.Path, "/") {
			to.Path = "/" + to.Path
		}
		if lines && line > 0 {
			to.Fragment = strconv.Itoa(line)
		}
		return to.String()
	}
}

// findFile returns the regular file at an absolute path, or below the first folder that has it; "" if there is none.
func findFile(path string, folders []string) string {
	var at []string
	switch {
	case filepath.IsAbs(path):
		at = []string{path}
	case !filepath.IsLocal(path):
		return ""
	default:
		for _, folder := range folders {
			if folder != "" {
				at = append(at, filepath.Join(folder, filepath.FromSlash(path)))
			}
		}
	}
	for _, file := range at {
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() {
			return file
		}
	}
	return ""
}
