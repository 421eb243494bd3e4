package code

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sibyl/internal/behaviour/assert"
)

// ignoreCases are the rules of gitignore(5), in its order; a path that ends in a slash is a folder. Each expectation is
// what git itself says.
var ignoreCases = []struct {
	name, patterns, path string
	want                 bool
}{
	{"blank line matches nothing", "", "a", false},
	{"comment", "# c", "# c", false},
	{"escaped hash", `\#c`, "#c", true},
	{"escaped bang", `\!c`, "!c", true},
	{"lone negation", "!c", "c", false},
	{"trailing space is dropped", "trail ", "trail", true},
	{"escaped trailing space is kept", `trail\ `, "trail ", true},
	{"trailing tab is kept", "\t", "\t", true},
	{"carriage return is dropped", "x\r\ny", "x", true},
	{"byte order mark is dropped", "\ufeffx", "x", true},
	{"later negation wins", "*.log\n!keep.log", "keep.log", false},
	{"negation below a folder", "*.log\n!keep.log", "d/keep.log", false},
	{"no way back into an excluded folder", "dir/\n!dir/f", "dir/f", true},
	{"everything but one file of one folder", "/*\n!/foo\n/foo/*\n!/foo/bar", "foo/bar", false},
	{"the other files of that folder", "/*\n!/foo\n/foo/*\n!/foo/bar", "foo/x", true},
	{"folders back in, sources back in", "*\n!*/\n!*.go", "d/a.go", false},
	{"folders back in, others out", "*\n!*/\n!*.go", "d/a.c", true},
	{"no slash: any depth", "*.log", "d/a.log", true},
	{"leading slash: this folder", "/a.log", "a.log", true},
	{"leading slash: not below", "/a.log", "d/a.log", false},
	{"inner slash: anchored", "a/b", "a/b", true},
	{"inner slash: not below", "a/b", "x/a/b", false},
	{"trailing slash matches a folder", "build/", "x/build/", true},
	{"trailing slash matches no file", "build/", "build", false},
	{"what is in an excluded folder", "foo/", "foo/bar", true},
	{"trailing and inner slash: anchored", "doc/frotz/", "a/doc/frotz/", false},
	{"star stays in its name", "foo*bar", "foo/bar", false},
	{"star in a folder", "foo/*", "foo/bar/", true},
	{"star in a folder is anchored", "foo/*", "x/foo/a", false},
	{"question mark", "a?c", "abc", true},
	{"question mark is no slash", "a?c", "a/c", false},
	{"class", "[a-c].x", "b.x", true},
	{"negated class matches another", "[!a-c].x", "d.x", true},
	{"negated class excludes its own", "[!a-c].x", "b.x", false},
	{"caret negates too", "[^a-c].x", "d.x", true},
	{"bracket first in a class", "[]]", "]", true},
	{"hyphen last in a class", "[a-]", "-", true},
	{"named class", "[[:digit:]]x", "1x", true},
	{"named class excludes others", "[[:digit:]]x", "ax", false},
	{"named class of punctuation", "[[:punct:]]x", "-x", true},
	{"named class beside others", "[a[:space:]b]x", " x", true},
	{"escaped bracket in a class", `[a\]]x`, "]x", true},
	{"range that runs backwards matches nothing", "[c-a]", "b", false},
	{"unclosed class matches nothing", "[", "[", false},
	{"class never holds a slash", "x[/]y", "x/y", false},
	{"escaped star", `\*x`, "*x", true},
	{"escaped star is no star", `\*x`, "ax", false},
	{"trailing backslash matches nothing", `a\`, "a", false},
	{"leading ** here", "**/foo", "foo", true},
	{"leading ** below", "**/foo", "a/b/foo", true},
	{"leading ** and a path", "**/foo/bar", "x/foo/bar", true},
	{"trailing ** all below", "abc/**", "abc/x/y", true},
	{"trailing ** not the folder itself", "abc/**", "abc/", false},
	{"inner ** spans nothing", "a/**/b", "a/b", true},
	{"inner ** spans folders", "a/**/b", "a/x/y/b", true},
	{"two inner **", "a/**/b/**/c", "a/b/x/b/y/c", true},
	{"other ** is a plain star", "a**b", "axxb", true},
	{"other ** stays in its name", "a**b/c", "a/x/b/c", false},
	{"** alone", "**", "a/b", true},
	{"/** alone", "/**", "a", true},
	{"**/ matches folders", "**/", "d/", true},
	{"**/ matches no file", "**/", "f", false},
	{"dots, brackets and plus are literal", "(a+.b)", "(a+.b)", true},
	{"a dot is only a dot", "a.b", "aXb", false},
	{"slash alone matches nothing", "/", "a", false},
	{"letters outside ASCII", "[ä-ü]?.x", "öß.x", true},
}

func TestIgnoreRulesFollowGitignore(t *testing.T) {
	for _, c := range ignoreCases {
		t.Run(c.name, func(t *testing.T) {
			assert.Equalf(t, ignoredBy(c.patterns, c.path), c.want, "patterns %q, path %q: ignored", c.patterns, c.path)
		})
	}
}

// ignoredBy asks about every folder above the path first, as the walk does.
func ignoredBy(patterns, path string) bool {
	layer := &ignoreLayer{rules: parseIgnores(patterns, false)}
	path, folder := strings.CutSuffix(path, "/")
	parts := strings.Split(path, "/")
	for i := range parts {
		last := i == len(parts)-1
		if layer.isIgnored(strings.Join(parts[:i+1], "/"), folder || !last) {
			return true
		}
	}
	return false
}

// TestIgnoreRulesAgreeWithGit compares random patterns and paths with the real program.
func TestIgnoreRulesAgreeWithGit(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed: the table alone holds the rules")
	}
	dir := t.TempDir()
	if out, err := exec.Command(git, "init", "-q", dir).CombinedOutput(); err != nil {
		t.Fatalf("git init: %v: %s", err, out)
	}
	piece := rapid.SampledFrom([]string{"a", "b", "ab", "*", "?", "**", "/", "/", "!", "[ab]", "[!a]", `\*`, "x.c",
		"*.c", " "})
	name := rapid.SampledFrom([]string{"a", "b", "ab", "x.c", "!a", "*", "a b"})
	var questions, paths []string
	gen := rapid.Custom(func(t *rapid.T) [2]string {
		lines := make([]string, rapid.IntRange(1, 4).Draw(t, "lines"))
		for i := range lines {
			lines[i] = strings.Join(rapid.SliceOfN(piece, 1, 5).Draw(t, "line"), "")
		}
		return [2]string{strings.Join(lines, "\n"), strings.Join(rapid.SliceOfN(name, 1, 4).Draw(t, "path"), "/")}
	})
	for i := range 250 {
		q := gen.Example(i)
		// Each question gets a folder of its own, so that one git process can answer them all.
		folder := fmt.Sprint("q", i)
		assert.NoError(t, os.MkdirAll(filepath.Join(dir, folder, filepath.Dir(q[1])), 0o755))
		write(t, filepath.Join(dir, folder, ".gitignore"), q[0]+"\n")
		write(t, filepath.Join(dir, folder, q[1]), "")
		questions, paths = append(questions, q[0]), append(paths, folder+"/"+q[1])
	}
	cmd := exec.Command(git, "-c", "core.quotePath=false", "check-ignore", "--no-index", "-z", "--stdin")
	cmd.Dir = dir
	cmd.Stdin = strings.NewReader(strings.Join(paths, "\x00") + "\x00")
	out, err := cmd.Output()
	assert.Require(t, err == nil || len(out) != 0, "git check-ignore: %v", err)
	ignored := map[string]bool{}
	for p := range strings.SplitSeq(string(out), "\x00") {
		ignored[p] = true
	}
	if n := len(ignored); n < len(paths)/10 || n > len(paths)*9/10 {
		t.Fatalf("%d of %d paths are ignored: the comparison says little", n, len(paths))
	}
	for i, p := range paths {
		_, below, _ := strings.Cut(p, "/")
		got, want := ignoredBy(questions[i], below), ignored[p]
		assert.That(t, got == want, "patterns %q, path %q: ignored = %v, git says %v", questions[i], below, got, want)
	}
}

func TestIgnoreCaseIsFoldedWhereTheFileSystemFoldsIt(t *testing.T) {
	layer := &ignoreLayer{rules: parseIgnores("Build/\n*.LOG", true)}
	assert.That(t, layer.isIgnored("bUILD", true) && layer.isIgnored("x/a.log", false),
		"a differently spelt name escaped its rule")
}
