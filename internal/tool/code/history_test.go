package code

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

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
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=ada@example.org", "GIT_COMMITTER_NAME=Ada",
		"GIT_COMMITTER_EMAIL=ada@example.org", "GIT_AUTHOR_DATE=2026-03-04T12:00:00Z", "GIT_COMMITTER_DATE=2026-03-04T12:00:00Z")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// commitAll makes a folder a repository, with all that is in it.
func commitAll(t testing.TB, dir string) {
	t.Helper()
	gitIn(t, dir, "init", "-q", "-b", "main")
	gitIn(t, dir, "add", "-A", "-f")
	gitIn(t, dir, "commit", "-q", "-m", "lease: begin", "-m", "The first word on it.")
}

// committed makes a repository with two commits, a file that may hold secrets among them.
func committed(t testing.TB) (*Root, string) {
	t.Helper()
	r, dir := tree(t, map[string]string{"lease.go": "package lease\n\nfunc Acquire() {}\n", "sub/note.txt": "one\n", ".env": "TOKEN=abc\n"})
	commitAll(t, dir)
	write(t, filepath.Join(dir, "lease.go"), "package lease\n\n// Acquire waits.\nfunc Acquire() {}\n")
	write(t, filepath.Join(dir, ".env"), "TOKEN=xyz\n")
	gitIn(t, dir, "commit", "-q", "-a", "-m", "lease: say that it waits")
	return r, dir
}

func TestHistoryListsCommitsTheNewestFirstWithTheirFiles(t *testing.T) {
	r, dir := committed(t)
	d, res := data[HistoryData](t, r, "code_history", HistoryArgs{Limit: 10})
	if len(d.Commits) != 2 || d.Commits[0].Subject != "lease: say that it waits" || d.Commits[1].Body != "The first word on it." || d.Commits[0].Author != "Ada" || d.Commits[0].Date != "2026-03-04" {
		t.Fatalf("the commits are %+v", d.Commits)
	}
	if c := d.Commits[0].Changes; len(c) != 1 || c[0].Status != "changed" || c[0].Path != "lease.go" || d.Secret != 1 {
		t.Errorf("the changes are %+v, %d files left out", c, d.Secret)
	}
	head := gitIn(t, dir, "rev-parse", "HEAD")
	if res.Refs[0].Path != "git:"+head[:shortHash] || !res.Refs[0].Opened || !strings.Contains(res.Text, "git:"+head[:shortHash]+"  2026-03-04  Ada: lease: say that it waits") {
		t.Errorf("the first place is %+v in\n%s", res.Refs[0], res.Text)
	}
	if strings.Contains(res.Text+string(res.Data), ".env") {
		t.Errorf("a file that may hold secrets is named:\n%s", res.Text)
	}
}

func TestHistoryOfOneLineHasTheCommitsThatChangedIt(t *testing.T) {
	r, _ := committed(t)
	d, _ := data[HistoryData](t, r, "code_history", HistoryArgs{What: "log", Path: "lease.go", Start: 3, End: 3, Limit: 10})
	if len(d.Commits) != 1 || d.Commits[0].Subject != "lease: say that it waits" {
		t.Errorf("line 3 was changed by %+v", d.Commits)
	}
}

func TestHistoryDiffsTheWorkingTreeAndCitesItsLines(t *testing.T) {
	r, dir := committed(t)
	write(t, filepath.Join(dir, "lease.go"), "package lease\n\n// Acquire waits.\nfunc Acquire() { wait() }\n--- a/lease.go\n")
	write(t, filepath.Join(dir, "new.go"), "package lease\n")
	write(t, filepath.Join(dir, ".env"), "TOKEN=123\n")
	d, res := data[HistoryData](t, r, "code_history", HistoryArgs{What: "diff", Limit: 10})
	if len(d.Changes) != 2 || d.Changes[0].Path != "lease.go" || d.Changes[1].Status != "untracked" || d.Secret != 1 {
		t.Fatalf("the changes are %+v, %d left out", d.Changes, d.Secret)
	}
	for _, want := range []string{"-func Acquire() {}", "+func Acquire() { wait() }", "+--- a/lease.go"} {
		if !strings.Contains(res.Text, want+"\n") {
			t.Errorf("the diff lacks %q:\n%s", want, res.Text)
		}
	}
	if len(res.Refs) != 1 || res.Refs[0].String() != "lease.go:1-5" || !res.Refs[0].Opened {
		t.Errorf("the places are %v", res.Refs)
	}
	if strings.Contains(res.Text, "TOKEN") || strings.Contains(res.Text, ".env") {
		t.Errorf("a secret file is shown:\n%s", res.Text)
	}
}

func TestHistoryDiffsACommitByItsHashOrName(t *testing.T) {
	r, dir := committed(t)
	for _, name := range []string{"HEAD~1", "git:" + gitIn(t, dir, "rev-parse", "HEAD~1")[:shortHash]} {
		d, res := data[HistoryData](t, r, "code_history", HistoryArgs{What: "diff", Commit: name, Limit: 10})
		if len(d.Commits) != 1 || d.Commits[0].Subject != "lease: begin" || len(d.Changes) != 2 || d.Changes[0].Status != "added" || !strings.Contains(res.Text, "+func Acquire() {}\n") {
			t.Errorf("%s changed %+v:\n%s", name, d.Changes, res.Text)
		}
	}
}

func TestHistoryBlamesLines(t *testing.T) {
	r, dir := committed(t)
	write(t, filepath.Join(dir, "lease.go"), "package lease\n\n// Acquire waits.\nfunc Acquire() {}\n// mine\n")
	d, res := data[HistoryData](t, r, "code_history", HistoryArgs{What: "blame", Path: "lease.go", Limit: 10})
	if len(d.Lines) != 5 || d.Lines[2].Subject != "lease: say that it waits" || d.Lines[3].Subject != "lease: begin" || d.Lines[4].Hash != "" || d.Lines[4].Text != "// mine" {
		t.Errorf("the lines are %+v", d.Lines)
	}
	if !strings.Contains(res.Text, "   5| not committed | // mine\n") {
		t.Errorf("the text is\n%s", res.Text)
	}
}

func TestHistoryStaysBelowTheRoot(t *testing.T) {
	_, dir := committed(t)
	write(t, filepath.Join(dir, "lease.go"), "package changed\n")
	sub := open(t, filepath.Join(dir, "sub"))
	d, res := data[HistoryData](t, sub, "code_history", HistoryArgs{Limit: 10})
	if len(d.Commits) != 1 || len(d.Commits[0].Changes) != 1 || d.Commits[0].Changes[0].Path != "note.txt" {
		t.Errorf("below sub, the commits are %+v", d.Commits)
	}
	if d, _ := data[HistoryData](t, sub, "code_history", HistoryArgs{What: "diff", Limit: 10}); len(d.Changes) != 0 {
		t.Errorf("below sub, there changed %+v", d.Changes)
	}
	if strings.Contains(res.Text, "lease.go") {
		t.Errorf("a file outside of the root is named:\n%s", res.Text)
	}
}

func TestHistoryTellsNothingOfCommitsThatChangedNothingBelowTheRoot(t *testing.T) {
	_, dir := committed(t)
	for _, commit := range []string{"HEAD", gitIn(t, dir, "rev-parse", "HEAD")} {
		res, err := call(t, open(t, filepath.Join(dir, "sub")), "code_history", `{"what":"diff","commit":"`+commit+`"}`)
		if kind(err) != tool.NotFound {
			t.Errorf("the commit %s, which changed a file outside of the root: %v\n%s", commit, err, res.Text)
		}
	}
}

func TestHistoryTellsWhatItCannotRead(t *testing.T) {
	r, dir := committed(t)
	none, _ := tree(t, map[string]string{"a.go": "package a\n"})
	empty, at := tree(t, map[string]string{"a.go": "package a\n"})
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
		if !errors.As(err, &known) || known.Kind != c.kind || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), dir) {
			t.Errorf("%s: %v, want %s: %s", c.args, err, c.kind, c.want)
		}
	}
}

func TestHistoryTakesSecretsOutOfPatchesAndMessages(t *testing.T) {
	r, dir := committed(t)
	token := "ghp_" + strings.Repeat("a1B2", 9)
	write(t, filepath.Join(dir, "conf.go"), "package lease\n\nconst token = \""+token+"\"\n")
	gitIn(t, dir, "add", "conf.go")
	gitIn(t, dir, "commit", "-q", "-m", "conf: use "+token)
	for _, args := range []string{`{}`, `{"what":"diff","commit":"HEAD"}`, `{"what":"blame","path":"conf.go"}`} {
		res, err := call(t, r, "code_history", args)
		if err != nil || strings.Contains(res.Text+string(res.Data), token) || !strings.Contains(res.Text, "conf") {
			t.Errorf("%s: %v\n%s", args, err, res.Text)
		}
	}
}

func TestHistoryOfAWorktreeIsRead(t *testing.T) {
	_, dir := committed(t)
	other := filepath.Join(t.TempDir(), "other")
	gitIn(t, dir, "worktree", "add", "-q", other)
	if d, _ := data[HistoryData](t, open(t, other), "code_history", HistoryArgs{Limit: 10}); len(d.Commits) != 2 {
		t.Errorf("the commits are %+v", d.Commits)
	}
}
