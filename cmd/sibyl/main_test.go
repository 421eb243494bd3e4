package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"sibyl/internal/app"
	"sibyl/internal/behaviour/needs"
	"sibyl/internal/bert/network"
	"sibyl/internal/cli"
	"sibyl/internal/journal"
	"sibyl/internal/media/document/documenttest"
	"sibyl/internal/store/pgtest"
)

// fileLimit names how many bytes a file may have that the process writes, as on a disk that is full. onlyReads has it
// give up the rights of root, which no closed folder holds for.
const (
	fileLimit = "SIBYL_TEST_FILE_LIMIT"
	onlyReads = "SIBYL_TEST_ONLY_READS=1"
)

// locksTried has the process try locks as the program does: “truly”, or “in vain” with a process that holds none.
const locksTried = "SIBYL_TEST_LOCKS_TRIED"

// crashAt names the append at which the process kills itself: a number, negative for “after it is written”. crashStep
// is the same for the steps that change a session of the Council.
const (
	crashAt   = "SIBYL_TEST_CRASH_AT"
	crashStep = "SIBYL_TEST_CRASH_STEP"
)

func TestMain(m *testing.M) {
	programs := map[string]func(){"sibyl": program, "lost": lost, "tracker": tracker, "exchange": exchange,
		app.ClassifierProgram: classifies}
	maps.Copy(programs, watchers())
	if run, is := programs[filepath.Base(os.Args[0])]; is {
		run()
		os.Exit(0)
	}
	code, err := installed(programs, pgtest.Main(m).Run)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// installed puts programs first into the PATH for what run does: they are this binary under other names, for which
// hundreds of megabytes are linked and not copied.
func installed(programs map[string]func(), run func() int) (code int, err error) {
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	dir, err := os.MkdirTemp("", "sibyl-programs-")
	if err != nil {
		return 0, err
	}
	defer func() { _ = os.RemoveAll(dir) }() // it is in nobody's way
	for name := range programs {
		file := filepath.Join(dir, name)
		if os.Link(self, file) == nil {
			continue
		}
		content, err := os.ReadFile(self) // on another disk
		if err == nil {
			err = os.WriteFile(file, content, 0o700)
		}
		if err != nil {
			return 0, err
		}
		self = file
	}
	if err := os.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH")); err != nil {
		return 0, err
	}
	return run(), nil
}

// program is the real command line, over a journal that can kill the process.
func program() {
	restrict()
	p := cli.Program{Build: "test", Store: newFailing}
	switch os.Getenv(locksTried) {
	case "truly":
		p.Again = again
	case "in vain":
		p.Again = func(ctx context.Context) *exec.Cmd {
			return exec.CommandContext(ctx, "sh", "-c", `: >"$SIBYL_LOCK_TRIAL/lock" && echo held && read -r line`)
		}
	}
	if text := os.Getenv(crashAt); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			panic(err)
		}
		p.Store = func(s journal.Store) journal.Store { return &deadly{Store: s, at: n} }
	}
	if text := os.Getenv(crashStep); text != "" {
		at, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			panic(err)
		}
		var steps atomic.Int64 // oracles of a sitting write side by side
		p.Step = func(string) error {
			if steps.Add(1) == at {
				die()
			}
			return nil
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	s := cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}
	if width, err := strconv.Atoi(os.Getenv(screenWidth)); err == nil {
		s.OutTTY, s.ErrTTY, s.Width, s.Height = true, true, width, 100
	}
	os.Exit(cli.Main(ctx, p, os.Args[1:], os.Environ(), s))
}

// classifies is the program that computes a classifier.
func classifies() {
	noteChild(os.Args[len(os.Args)-1])
	os.Exit(network.Main(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// restrict takes from the process what the environment says.
func restrict() {
	if text := os.Getenv(fileLimit); text != "" {
		n, err := strconv.ParseUint(text, 10, 64)
		if err == nil {
			err = syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: n, Max: n})
		}
		if err != nil {
			panic(err)
		}
	}
	if name, value, _ := strings.Cut(onlyReads, "="); os.Getenv(name) == value && os.Geteuid() == 0 {
		const nobody = 65534
		if err := errors.Join(syscall.Setgroups(nil), syscall.Setgid(nobody), syscall.Setuid(nobody)); err != nil {
			panic(err)
		}
	}
}

// lost is the program with a standard output that takes nothing.
func lost() {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		panic(err)
	}
	os.Exit(cli.Main(context.Background(), cli.Program{Build: "test"}, os.Args[1:], os.Environ(),
		cli.Streams{In: os.Stdin, Out: full, Err: os.Stderr}))
}

// exchange is an editor: exchange OLD NEW FILE.
func exchange() {
	file := os.Args[3]
	content, err := os.ReadFile(file)
	if err == nil {
		err = os.WriteFile(file, bytes.ReplaceAll(content, []byte(os.Args[1]), []byte(os.Args[2])), 0o600)
	}
	if err != nil {
		panic(err)
	}
}

// deadly kills the process, as kill -9 does, at one of the journal's writes.
type deadly struct {
	journal.Store
	at, writes int
}

func (d *deadly) around(write func() error) error {
	d.writes++
	if d.at > 0 && d.writes == d.at {
		die()
	}
	err := write()
	if d.at < 0 && d.writes == -d.at {
		die()
	}
	return err
}

func die() {
	if err := syscall.Kill(os.Getpid(), syscall.SIGKILL); err != nil {
		panic(err)
	}
	select {} // nothing runs on
}

func (d *deadly) Begin(ctx context.Context, b journal.Beginning) error {
	return d.around(func() error { return d.Store.Begin(ctx, b) })
}

func (d *deadly) Append(
	ctx context.Context, owner journal.Owner, run string, recs []journal.Record, end *journal.End,
) error {
	return d.around(func() error { return d.Store.Append(ctx, owner, run, recs, end) })
}

// TestScripts runs the command line as a person would, each file a story.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		Setup:               setup,
		RequireExplicitExec: true,
		Condition: func(name string) (bool, error) {
			if name != "all" {
				return false, fmt.Errorf("there is no condition %q", name)
			}
			return needs.Everything(), nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){"bigfile": bigFile, "exits": exits,
			"backdate": backdate, "word": word,
			"plays": plays, "leaves": leaves, "asked": asked, "interrupt": interrupt, "ended": ended,
			"classifier": classifier, "childless": childless, "golden": golden, "explained": explained,
			"convene": convene, "told": told, "hush": hush, "speaks": speaks, "named": named, "installs": installs,
			"later": later, "holds": holds, "changed": changed, "runs": runsPrinted},
	})
}

// installs puts the program into a folder as ‘go install ./cmd/sibyl’ does in a checkout, with the module and build
// caches of who runs the tests.
func installs(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: installs FOLDER")
	}
	cmd := exec.Command("go", "install", "./cmd/sibyl")
	cmd.Dir = filepath.Join("..", "..")
	cmd.Env = append(os.Environ(), "GOBIN="+args[0])
	if out, err := cmd.CombinedOutput(); err != nil {
		ts.Fatalf("%v: %s", err, out)
	}
}

// setup gives each story a home of its own, no network, and a model that is played.
func setup(env *testscript.Env) error {
	home := filepath.Join(env.WorkDir, "home")
	if err := os.MkdirAll(home, 0o700); err != nil {
		return err
	}
	played := newPlayed()
	env.Defer(played.Close)
	env.Setenv("HOME", home)
	env.Setenv("XDG_DATA_HOME", "")
	env.Setenv("XDG_CONFIG_HOME", "")
	caches, err := documenttest.Caches()
	if err != nil {
		return err
	}
	env.Setenv("XDG_CACHE_HOME", caches)
	env.Setenv("SIBYL_DATA", filepath.Join(env.WorkDir, "data"))
	env.Setenv("OLLAMA_HOST", "127.0.0.1:1") // nothing listens there
	env.Setenv("PLAYED", played.BaseURL+"/v1")
	upgrade, err := filepath.Abs(filepath.Join("testdata", "upgrade", "0.8.0.tar.gz"))
	if err != nil {
		return err
	}
	env.Setenv("UPGRADE", upgrade)
	more := &troupe{actors: map[string]*actor{}}
	env.Defer(more.Close)
	env.Values[troupeKey{}] = more
	env.Values[councillorsKey{}] = &sittings{}
	return nil
}

// exits runs a program and wants exactly this exit code.
func exits(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARGS…")
	}
	err := ts.Exec(args[1], args[2:]...)
	got := "0"
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = strconv.Itoa(exit.ExitCode())
	} else if err != nil {
		got = err.Error()
	}
	if got != args[0] {
		ts.Fatalf("%s exits %s, not %s", args[1], got, args[0])
	}
	wantUnderstood(ts)
}

// holds looks for a text in files, and in all files of folders: holds TEXT FILE….
func holds(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: holds TEXT FILE…")
	}
	found := ""
	for _, root := range args[1:] {
		ts.Check(filepath.WalkDir(ts.MkAbs(root), func(name string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			content, err := os.ReadFile(name)
			if bytes.Contains(content, []byte(args[0])) {
				found = name
			}
			return err
		}))
	}
	if neg && found != "" {
		ts.Fatalf("%q is in %s", args[0], found)
	} else if !neg && found == "" {
		ts.Fatalf("%q is in none of the files", args[0])
	}
}

// changed writes a copy of a file in which what a pattern matches is another text: changed FROM TO PATTERN TEXT.
func changed(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 4 {
		ts.Fatalf("usage: changed FROM TO PATTERN TEXT")
	}
	pattern, err := regexp.Compile(args[2])
	ts.Check(err)
	content := ts.ReadFile(args[0])
	if !pattern.MatchString(content) {
		ts.Fatalf("%s has nothing that matches %s", args[0], args[2])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(pattern.ReplaceAllLiteralString(content, args[3])), 0o600))
}

// bigFile writes a file of so many megabytes.
func bigFile(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: bigfile NAME MEGABYTES")
	}
	mb, err := strconv.Atoi(args[1])
	ts.Check(err)
	f, err := os.Create(ts.MkAbs(args[0]))
	ts.Check(err)
	line := []byte(fmt.Sprintf("%01023d\n", 0))
	for range mb << 10 {
		_, err := f.Write(line)
		ts.Check(err)
	}
	ts.Check(f.Close())
}
