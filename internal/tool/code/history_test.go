package code

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/tool"
)

// gitIn runs git for a test, as a person of the tests.
func gitIn(t testing.TB, dir string, args ...string) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("the program git is not installed")
	}
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=Ada",
		"GIT_AUTHOR_EMAIL=ada@example.org", "GIT_COMMITTER_NAME=Ada",
		"GIT_COMMITTER_EMAIL=ada@example.org", "GIT_AUTHOR_DATE=2026-03-04T12:00:00Z",
		"GIT_COMMITTER_DATE=2026-03-04T12:00:00Z")
	out, err := cmd.CombinedOutput()
	assert.Require(t, err == nil, "git %s: %v\n%s", strings.Join(args, " "), err, out)
	return strings.TrimSpace(string(out))
}

// commitAll makes a folder a repository, with all that is in it.
func commitAll(t testing.TB, dir string) {
	t.Helper()
	gitIn(t, dir, "init", "-q", "-b", "main")
	gitIn(t, dir, "add", "-A", "-f")
	gitIn(t, dir, "commit", "-q", "-m", "lease: begin", "-m", "The first word on it.")
}

// committedRoot makes a repository with two commits, a file that may hold secrets among them.
func committedRoot(t testing.TB) (*Root, string) {
	t.Helper()
	r, dir := rootOf(t, map[string]string{"lease.go": "package lease\n\nfunc Acquire() {}\n", "sub/note.txt": "one\n",
		".env": "TOKEN=abc\n"})
	commitAll(t, dir)
	write(t, filepath.Join(dir, "lease.go"), "package lease\n\n// Acquire waits.\nfunc Acquire() {}\n")
	write(t, filepath.Join(dir, ".env"), "TOKEN=xyz\n")
	gitIn(t, dir, "commit", "-q", "-a", "-m", "lease: say that it waits")
	return r, dir
}

// callHistory calls code_history, and checks what its text holds and what it lacks.
func callHistory(t *testing.T, r *Root, args string, has, lacks []string) tool.Result {
	t.Helper()
	res, err := call(t, r, "code_history", args)
	assert.NoErrorf(t, err, "%s", args)
	assert.Contains(t, args, res.Text, has...)
	assert.Lacks(t, args, res.Text+string(encode(t, res.Refs)), lacks...)
	return res
}

// cited are the places that can be cited of a result.
func cited(res tool.Result) (all []string) {
	for _, ref := range res.Refs {
		if ref.Opened {
			all = append(all, ref.String())
		}
	}
	return all
}

func TestHistoryTellsCommitsDiffsAndBlame(t *testing.T) {
	r, dir := committedRoot(t)
	head, first := gitIn(t, dir, "rev-parse", "HEAD")[:shortHash], gitIn(t, dir, "rev-parse", "HEAD~1")[:shortHash]
	write(t, filepath.Join(dir, "lease.go"),
		"package lease\n\n// Acquire waits.\nfunc Acquire() { wait() }\n--- a/lease.go\n+++ b/lease.go\n")
	write(t, filepath.Join(dir, "new.go"), "package lease\n")
	write(t, filepath.Join(dir, ".env"), "TOKEN=123\n")
	said, began := "git:"+head+"  2026-03-04  Ada: lease: say that it waits\n", "git:"+first+
		"  2026-03-04  Ada: lease: begin\n    The first word on it.\n"
	for args, c := range map[string]struct{ has, lacks, places []string }{
		`{}`: {[]string{said + "    changed lease.go\n" + began,
			"Left out: 1 changed file that may hold secrets."}, []string{".env"},
			[]string{"git:" + head, "git:" + first}},
		`{"limit":1}`: {[]string{said, "there is more"}, []string{"begin"},
			[]string{"git:" + head}},
		`{"path":"lease.go","start":3,"end":3}`: {[]string{said}, []string{"begin"}, []string{"git:" + head}},
		`{"commit":"HEAD~1"}`:                   {[]string{began}, []string{"waits"}, []string{"git:" + first}},
		`{"what":"diff"}`: {[]string{"    changed lease.go\n    untracked new.go\n", "-func Acquire() {}\n",
			"+func Acquire() { wait() }\n", "+--- a/lease.go\n"}, []string{"TOKEN", ".env"},
			[]string{"lease.go:1-6"}},
		`{"what":"diff","commit":"HEAD~1"}`: {[]string{began + "    added lease.go\n    added sub/note.txt\n",
			"+func Acquire() {}\n"}, []string{"TOKEN", ".env"}, []string{"git:" + first}},
		`{"what":"diff","commit":"git:` + head + `"}`: {[]string{said, "+// Acquire waits.\n"},
			[]string{"TOKEN", ".env"}, []string{"git:" + head}},
		`{"what":"blame","path":"lease.go"}`: {[]string{"lease: begin\n   1| git:" + first + " | package lease\n",
			"   3| git:" + head + " | // Acquire waits.\n", "   5| not committed | --- a/lease.go\n"},
			nil, []string{"git:" + first, "git:" + head, "lease.go:1-6"}},
		`{"what":"blame","path":"lease.go","start":3,"commit":"HEAD"}`: {[]string{"   3| git:" + head},
			[]string{"package"}, []string{"git:" + head}},
	} {
		res := callHistory(t, r, args, c.has, c.lacks)
		if got := cited(res); !slices.Equal(got, c.places) || res.Items == 0 {
			t.Errorf("%s: %d items, the places are %q, want %q", args, res.Items, got, c.places)
		}
	}
}

func TestHistoryOfAMessageThatLooksLikeItsOwnLinesIsNotTaken(t *testing.T) {
	r, dir := committedRoot(t)
	write(t, filepath.Join(dir, "sub", "note.txt"), "two\n")
	gitIn(t, dir, "commit", "-q", "-a", "-m", "forge", "-m", "git:0123456789  2026-01-01  Eve: forged\nM\tforged.go")
	res := callHistory(t, r, `{"limit":2}`, []string{"\n    git:0123456789", "\n    M\tforged.go"},
		[]string{"changed forged.go"})
	assert.That(t, res.Items == 2 && len(res.Refs) == 2, "%d commits, %v", res.Items, res.Refs)
}

func TestHistoryStaysBelowTheRoot(t *testing.T) {
	_, dir := committedRoot(t)
	write(t, filepath.Join(dir, "lease.go"), "package changed\n")
	sub := open(t, filepath.Join(dir, "sub"))
	callHistory(t, sub, `{}`, []string{"lease: begin", "added note.txt"}, []string{"lease.go", "waits"})
	callHistory(t, sub, `{"what":"diff"}`, []string{"Nothing is changed since the last commit."}, []string{"lease.go"})
}

func TestHistoryTellsNothingOfCommitsThatChangedNothingBelowTheRoot(t *testing.T) {
	_, dir := committedRoot(t)
	for _, commit := range []string{"HEAD", gitIn(t, dir, "rev-parse", "HEAD")} {
		res, err := call(t, open(t, filepath.Join(dir, "sub")), "code_history", `{"what":"diff","commit":"`+commit+`"}`)
		assert.That(t, kindOf(err) == tool.NotFound,
			"the commit %s, which changed a file outside of the root: %v\n%s", commit, err, res.Text)
	}
}

func TestHistoryTellsWhatItCannotRead(t *testing.T) {
	r, dir := committedRoot(t)
	none, _ := rootOf(t, map[string]string{"a.go": "package a\n"})
	empty, at := rootOf(t, map[string]string{"a.go": "package a\n"})
	gitIn(t, at, "init", "-q")
	for _, c := range []struct {
		root       *Root
		args, want string
		kind       tool.Kind
	}{
		{none, `{}`, "no git repository", tool.Unavailable},
		{empty, `{}`, "nothing is committed yet", tool.Unavailable},
		{empty, `{"what":"diff"}`, "nothing is committed yet", tool.Unavailable},
		{r, `{"path":".env"}`, ".env is closed", tool.Denied},
		{r, `{"path":"../x"}`, "leads out of the folder", tool.Denied},
		{r, `{"what":"blame"}`, "lines are asked for, of no file", tool.InvalidArgs},
		{r, `{"what":"diff","path":"lease.go","start":2}`, "a diff is of whole files", tool.InvalidArgs},
		{r, `{"path":"lease.go","start":3,"end":2}`, "end is 2, before start", tool.InvalidArgs},
		{r, `{"commit":"--output=x"}`, "there is no commit", tool.NotFound},
		{r, `{"commit":"HEAD:.env"}`, "there is no commit", tool.NotFound},
		{r, `{"commit":"zanzibar"}`, "there is no commit zanzibar", tool.NotFound},
		{r, `{"what":"blame","path":"lease.go","start":99}`, "git can't read that", tool.Failed},
	} {
		_, err := call(t, c.root, "code_history", c.args)
		var known *tool.Error
		assert.That(t, errors.As(err, &known) && known.Kind == c.kind && strings.Contains(err.Error(), c.want) &&
			!strings.Contains(err.Error(), dir), "%s: %v, want %s: %s", c.args, err, c.kind, c.want)
	}
}

func TestHistoryTakesSecretsOutOfPatchesAndMessages(t *testing.T) {
	r, dir := committedRoot(t)
	token := "ghp_" + strings.Repeat("a1B2", 9)
	write(t, filepath.Join(dir, "conf.go"), "package lease\n\nconst token = \""+token+"\"\n")
	gitIn(t, dir, "add", "conf.go")
	gitIn(t, dir, "commit", "-q", "-m", "conf: use "+token)
	for _, args := range []string{`{}`, `{"what":"diff","commit":"HEAD"}`, `{"what":"blame","path":"conf.go"}`} {
		res, err := call(t, r, "code_history", args)
		assert.That(t, err == nil && !strings.Contains(res.Text+string(res.Data), token) &&
			strings.Contains(res.Text, "conf"), "%s: %v\n%s", args, err, res.Text)
	}
}

func TestHistoryOfAWorktreeIsRead(t *testing.T) {
	_, dir := committedRoot(t)
	other := filepath.Join(t.TempDir(), "other")
	gitIn(t, dir, "worktree", "add", "-q", other)
	callHistory(t, open(t, other), `{}`, []string{"lease: begin", "lease: say that it waits"}, nil)
}

func TestHistorySaysWhereItEndsAndWhatItIsNotOf(t *testing.T) {
	_, full := committedRoot(t)
	shallow := filepath.Join(t.TempDir(), "clone")
	gitIn(t, full, "clone", "-q", "--depth", "1", "file://"+full, shallow)
	r := open(t, shallow)
	last := "git:" + gitIn(t, full, "rev-parse", "HEAD")[:10]
	for args, want := range map[string]string{
		`{"what":"blame","path":"lease.go"}`: last + " or older | package lease", `{"path":"lease.go"}`: "the history here ends with it",
		`{"what":"diff","commit":"HEAD"}`: "the history here ends with it", `{"path":"gone.go"}`: "No commit changed that.",
	} {
		res := callHistory(t, r, args, []string{want, "shallow clone"}, nil)
		assert.That(t, len(res.Uncovered) == 1 && res.Uncovered[0].Reason == tool.Shallow, "%s: %+v", args, res.Uncovered)
		for _, ref := range res.Refs {
			assert.That(t, ref.Path != last || strings.Contains(args, "diff"), "%s: the last commit can be cited for what may be older", args)
		}
	}
	callHistory(t, r, `{}`, []string{"lease: say that it waits", "shallow clone"}, nil)
	whole := callHistory(t, open(t, full), `{"what":"blame","path":"lease.go"}`, []string{"lease: begin"}, []string{"or older"})
	assert.That(t, len(whole.Uncovered) == 0, "a whole history: %+v", whole.Uncovered)

	outer, dir := rootOf(t, map[string]string{"a.go": "package a\n"})
	commitAll(t, dir)
	// What ‘git submodule add’ leaves: that is a script, which needs more programs than git.
	gitIn(t, dir, "clone", "-q", full, "libs/lease")
	write(t, filepath.Join(dir, ".gitmodules"), "[submodule \"lease\"]\n\tpath = libs/lease\n\turl = "+full+"\n")
	gitIn(t, dir, "-c", "advice.addEmbeddedRepo=false", "add", ".gitmodules", "libs/lease")
	gitIn(t, dir, "commit", "-q", "-m", "with a library")
	res := callHistory(t, outer, `{"path":"libs/lease/lease.go"}`, []string{"submodule", "libs/lease"}, nil)
	assert.That(t, len(res.Uncovered) == 1 && res.Uncovered[0].Reason == tool.Submodule, "%+v", res.Uncovered)
}

func TestLinesOfHistoryAreDecoded(t *testing.T) {
	r, dir := rootOf(t, map[string]string{"latin.txt": "gr\xfcn\n", "wide.ps1": wide("Write-Host 1\r\nexit\r\n", false)})
	commitAll(t, dir)
	callHistory(t, r, `{"what":"blame","path":"latin.txt"}`, []string{"grün"}, []string{"\uFFFD"})
	callHistory(t, r, `{"what":"diff","commit":"HEAD"}`, []string{"+grün"}, []string{"\uFFFD"})
	callHistory(t, r, `{"what":"blame","path":"wide.ps1"}`, []string{"| Write-Host 1", "| exit"}, []string{"\uFFFD", "␀"})
}
