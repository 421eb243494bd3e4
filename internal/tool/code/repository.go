package code

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"sibyl/internal/tool"
)

const (
	gitTimeout    = 30 * time.Second // a busy machine needs long, too
	maxGitOutput  = 1 << 20          // bytes that are read of git's output
	maxGitPointer = 4 << 10          // bytes of a file that names a git folder
	maxGitMemory  = 1 << 30          // bytes that git may use, where the system has such a bound
	maxGitFile    = 4 << 20          // bytes of a git file that git reads as a whole
	maxGitFiles   = 100_000          // git files that are checked
)

// repository is the git repository in which a root lies. Its git dir, its working tree and its objects belong together:
// nothing of another repository is read through it.
type repository struct {
	root      string   // where git runs, absolute
	top       string   // of the working tree
	dir       string   // what git calls the git dir
	overrides []string // name=value, to turn off each setting of the repository that would run a program
}

// notRepository returns the error for a folder without a readable history.
func notRepository(why string) error {
	return tool.Errorf(tool.Unavailable,
		"only a folder under git has a history; its files can still be searched and read",
		"the folder has no history that can be read: %s", why)
}

// openRepository finds the repository of the root, in it or above it, and refuses one whose parts lie elsewhere.
func (r *Root) openRepository(ctx context.Context) (*repository, error) {
	if _, err := exec.LookPath("git"); err != nil {
		return nil, tool.Errorf(tool.Unavailable, "install git, or search the files as they are",
			"the program git is not installed")
	}
	byName, errNamed := os.Stat(r.root.Name())
	opened, errOpened := r.root.Stat(".")
	if errNamed != nil || errOpened != nil || !os.SameFile(byName, opened) {
		return nil, tool.Errorf(tool.Conflict, "ask again", "the folder was replaced since it was opened")
	}
	root, err := filepath.EvalSymlinks(r.root.Name())
	if err != nil {
		return nil, notRepository("it can't be located")
	}
	g := &repository{root: root}
	for g.top = root; ; g.top = filepath.Dir(g.top) {
		info, err := os.Lstat(filepath.Join(g.top, ".git"))
		if err == nil {
			if err := g.locateDir(info); err != nil {
				return nil, err
			}
			return g, g.listFilters(ctx)
		}
		if !errors.Is(err, fs.ErrNotExist) || g.top == filepath.Dir(g.top) {
			return nil, notRepository("it is in no git repository")
		}
	}
}

// locateDir finds the git dir, to which .git is a pointer in a worktree.
func (g *repository) locateDir(info fs.FileInfo) error {
	mark := filepath.Join(g.top, ".git")
	switch {
	case info.IsDir():
		g.dir = mark
	case info.Mode().IsRegular():
		name, ok := strings.CutPrefix(readPointer(mark), "gitdir: ")
		if !ok {
			return notRepository(".git is damaged")
		}
		g.dir = resolve(g.top, name)
		if pointer := readPointer(filepath.Join(g.dir, "gitdir")); pointer == "" || !sameFile(resolve(g.dir, pointer), mark) {
			return notRepository(".git names the repository of another folder")
		}
	default:
		return notRepository(".git is a link or no file")
	}
	return g.refuseBorrowed()
}

// refuseBorrowed refuses a repository that takes refs or objects from another, through commondir, alternates or links,
// and one with parts that are too large or too many.
func (g *repository) refuseBorrowed() error {
	common := g.dir
	if name := readPointer(filepath.Join(g.dir, "commondir")); name != "" {
		common = resolve(g.dir, name)
		if trees := filepath.Dir(g.dir); filepath.Base(trees) != "worktrees" || !sameFile(common, filepath.Dir(trees)) {
			return notRepository("it takes its commits from another repository")
		}
	}
	if _, err := os.Lstat(filepath.Join(common, "objects", "info", "alternates")); err == nil {
		return notRepository("it borrows its commits from another repository")
	}
	return errors.Join(refuseLinks(common), refuseLinks(g.dir))
}

// refuseLinks refuses a git dir in which git would follow a link, or read a file of unlimited size. What git reads as a
// whole must be a regular file of at most maxGitFile bytes. Sockets and links to folders of other programs are allowed.
func refuseLinks(dir string) error {
	seen := 0
	return filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || name == dir {
			return nil //nolint:nilerr // what can't be read here can't be read by git
		}
		if seen++; seen > maxGitFiles {
			return notRepository("it has more parts than are looked at")
		}
		below, _ := filepath.Rel(dir, name) // it is below
		top, rest, nested := strings.Cut(filepath.ToSlash(below), "/")
		own := top == "refs" || top == "info" || top == "objects"
		switch {
		case e.IsDir() && (!own || top == "objects" && nested && rest != "info" && rest != "pack"):
			return fs.SkipDir
		case e.IsDir() || !own && (e.Type()&fs.ModeSocket != 0 || e.Type()&fs.ModeSymlink != 0 && isFolder(name)):
			return nil
		case !e.Type().IsRegular():
			return notRepository("a part of it is a link or no file")
		}
		mapped := top == "objects" || top == "index" || top == "packed-refs" || strings.HasPrefix(top, "sharedindex.")
		if info, err := e.Info(); err == nil && info.Size() > maxGitFile && !mapped {
			return notRepository("a part of it is larger than such parts are")
		}
		return nil
	})
}

func isFolder(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// readPointer reads the one line of a small regular file; "" if it can't.
func readPointer(name string) string {
	info, err := os.Lstat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxGitPointer {
		return ""
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

func resolve(from, name string) string {
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(from, name)
}

func sameFile(a, b string) bool {
	one, errOne := os.Stat(a)
	other, errOther := os.Stat(b)
	return errOne == nil && errOther == nil && os.SameFile(one, other)
}

// listFilters adds the filters of the repository's settings to g.overrides, which turns them off: there is no flag for
// that, and a diff of the working tree would run them.
func (g *repository) listFilters(ctx context.Context) error {
	out, cut, err := g.runGit(ctx, "config", "--list", "--includes", "--name-only", "-z")
	if err != nil || cut {
		return cmp.Or(err, notRepository("its settings are too long"))
	}
	for name := range strings.SplitSeq(string(out), "\x00") {
		lower := strings.ToLower(name)
		if !strings.HasPrefix(lower, "filter.") {
			continue
		}
		value := ""
		if strings.HasSuffix(lower, ".required") {
			value = "false"
		}
		g.overrides = append(g.overrides, name+"="+value)
	}
	return nil
}

// settings are passed to every git command. They turn off what could run a program, reach another machine, read a file
// outside of the repository, or take much memory.
var settings = []string{
	"core.hooksPath=/dev/null", "core.fsmonitor=false", "core.pager=cat", "core.attributesFile=/dev/null",
	"core.excludesFile=/dev/null", "core.symlinks=true",
	"core.alternateRefsCommand=", "core.sshCommand=false", "core.askPass=", "core.quotePath=false",
	"credential.helper=", "protocol.allow=never",
	"log.showSignature=false", "log.mailmap=false", "mailmap.file=", "mailmap.blob=", "blame.ignoreRevsFile=",
	"diff.external=", "diff.orderFile=/dev/null",
	"diff.submodule=short", "diff.ignoreSubmodules=all", "submodule.recurse=false", "gc.auto=0",
	"maintenance.auto=false", "core.bigFileThreshold=16m",
}

// environment returns git's whole environment. Of ours it holds only PATH and SYSTEMROOT.
func (g *repository) environment() []string {
	env := []string{
		"PATH=" + os.Getenv("PATH"), "SYSTEMROOT=" + os.Getenv("SYSTEMROOT"), "HOME=/nonexistent", "LC_ALL=C",
		"GIT_DIR=" + g.dir, "GIT_WORK_TREE=" + g.top, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_SYSTEM=/dev/null",
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_ATTR_NOSYSTEM=1",
		"GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1", "GIT_NO_REPLACE_OBJECTS=1",
		"GIT_LITERAL_PATHSPECS=1", "GIT_ALLOW_PROTOCOL=", "GIT_PAGER=cat",
	}
	all := append(slices.Clone(settings), g.overrides...)
	env = append(env, fmt.Sprintf("GIT_CONFIG_COUNT=%d", len(all)))
	for i, s := range all {
		at := strings.LastIndexByte(s, '=') // the name of a filter may hold one, no value does
		env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", i, s[:at]), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s",
			i, s[at+1:]))
	}
	return env
}

// runGit runs a git command that only reads, and returns its output, cut off at maxGitOutput. Git's error messages are
// dropped: they may contain paths of the machine, and lines of files.
func (g *repository) runGit(ctx context.Context, args ...string) (out []byte, cut bool, err error) {
	ctx, stop := context.WithTimeout(ctx, gitTimeout)
	defer stop()
	cmd := exec.CommandContext(ctx, "git", append([]string{"--no-pager"}, args...)...)
	cmd.Dir, cmd.Env = g.root, g.environment()
	printed, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	started := err == nil
	if started {
		boundMemory(cmd.Process.Pid, maxGitMemory)
		// Reading has no bound of its own: on a busy machine, git may have ended long before its output is read. What
		// outlives git may hold the output open.
		unblock := context.AfterFunc(ctx, func() { _ = printed.Close() })
		defer unblock()
		out, err = io.ReadAll(io.LimitReader(printed, maxGitOutput+1))
		if cut = len(out) > maxGitOutput; cut {
			stop()
		}
		err = cmp.Or(cmd.Wait(), err)
	}
	switch {
	case cut: // half a line may hold half a secret
		out = out[:maxGitOutput]
		return out[:bytes.LastIndexAny(out, "\n\x00")+1], true, nil
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return nil, false, tool.Errorf(tool.Timeout, "name a file with path, or ask for fewer commits",
			"git took longer than %s", gitTimeout)
	case ctx.Err() != nil:
		return nil, false, ctx.Err()
	case !started || cmd.ProcessState.ExitCode() < 0: // it has no status where a signal ended it
		return nil, false, tool.Errorf(tool.Unavailable, "ask again, or search the files as they are",
			"the program git can't be run at the moment")
	case err != nil:
		return nil, false, tool.Errorf(tool.Failed,
			"see with log which commits there are, and with repo_map which files",
			"git can't read that: there is no such commit, file or line, or the repository is damaged")
	}
	return out, false, nil
}
