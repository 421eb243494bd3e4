package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sibyl/internal/app"
	"sibyl/internal/behaviour/assert"
	"sibyl/internal/behaviour/needs"
	"sibyl/internal/cli"
	"sibyl/internal/journal"
)

// outcome is how a process ended.
type outcome struct {
	code     int
	out, err string
	took     time.Duration
}

// begin starts the real program; the function it returns waits for its end.
func (s *story) begin(t *testing.T, env string, args ...string) func() outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	cmd := exec.CommandContext(ctx, "sibyl", args...)
	cmd.Env = append(s.environ(), env)
	var out, errText bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errText
	began := time.Now()
	assert.NoError(t, cmd.Start())
	return func() outcome {
		defer cancel()
		err := cmd.Wait()
		var exit *exec.ExitError
		assert.That(t, err == nil || errors.As(err, &exit), "sibyl %s: %v", strings.Join(args, " "), err)
		return outcome{code: cmd.ProcessState.ExitCode(), out: out.String(), err: errText.String(),
			took: time.Since(began)}
	}
}

// run runs the real program to its end, and wants this exit code and these words on standard error.
func (s *story) run(t *testing.T, env string, code int, args []string, words ...string) outcome {
	t.Helper()
	o := s.begin(t, env, args...)()
	o.want(t, strings.Join(args, " "), code, words...)
	return o
}

func (o outcome) want(t *testing.T, what string, code int, words ...string) {
	t.Helper()
	assert.That(t, o.code == code, "%s exits %d, want %d\n%s%s", what, o.code, code, o.out, o.err)
	assert.Contains(t, what, o.err, words...)
}

// question asks for a note, in which there are reads, a write and four turns of the model.
func (s *story) question() []string {
	return []string{"ask", "--json", "--in", s.vault, "--vault", s.vault,
		"Add a note to caching.md that we use no cache"}
}

// greeted is a story in which a first question was asked and answered.
func greeted(t *testing.T) *story {
	s := newStory(t)
	s.note(t, "greet.go", "package greet\n\n// Greet greets.\nfunc Greet() {}\n")
	s.run(t, "", cli.ExitAnswered, []string{"ask", "-q", "--in", s.vault, "How does the Greet function work?"})
	return s
}

// TestDiskThatIsFullAtAnyWriteLosesNothing lets the journal's files grow to one size after another. Where that is too
// little, the program says so, and what it was about is done once there is space: the note stands there once.
func TestDiskThatIsFullAtAnyWriteLosesNothing(t *testing.T) {
	needs.All(t, "many processes")
	t.Parallel()
	const step = 8 << 10
	first := greeted(t)
	stopped, unbegun := 0, 0
	for limit := 40 << 10; ; limit += step {
		s := newStory(t)
		assert.NoError(t, os.CopyFS(s.data, os.DirFS(first.data)))
		point := fmt.Sprintf("with files of %d bytes at most", limit)
		o := s.begin(t, fmt.Sprintf("%s=%d", fileLimit, limit), s.question()...)()
		if o.code == cli.ExitAnswered {
			s.check(t, point, []byte(o.out))
			break
		}
		o.want(t, "ask "+point, cli.ExitJournal, "no space left to write", app.DatabaseFile(s.data), "free some space")
		if !strings.HasPrefix(o.out, `{"error":`) { // under --json a failure is told there, too
			t.Errorf("%s: an answer is shown that is not kept: %s", point, o.out)
		}
		again := s.begin(t, "", "run", "resume", "--json")()
		if strings.Contains(again.err, "no paused runs") {
			unbegun++
			again = s.begin(t, "", s.question()...)()
		} else {
			stopped++
		}
		again.want(t, "going on after the disk was full "+point, cli.ExitAnswered)
		s.check(t, point, []byte(again.out))
	}
	t.Logf("full in the middle of a run %d times, before it %d times", stopped, unbegun)
	assert.That(t, stopped >= 4 && unbegun != 0,
		"full in the middle of a run %d times, before it %d times: that proves little", stopped, unbegun)
}

// holdLock begins to write to the journal, as another program might, and never ends until told to.
func (s *story) holdLock(t *testing.T) (release func()) {
	t.Helper()
	db := assert.Must(sql.Open("sqlite", "file:"+app.DatabaseFile(s.data)+"?_txlock=immediate"))(t)
	tx := assert.Must(db.BeginTx(context.WithoutCancel(t.Context()), nil))(t)
	return sync.OnceFunc(func() {
		_ = tx.Rollback()
		_ = db.Close()
	})
}

// patience is how long the journal waits for another writer.
const patience = 5 * time.Second

func TestJournalThatIsLockedIsWaitedForAndNamed(t *testing.T) {
	t.Parallel()
	s := greeted(t)
	release := s.holdLock(t)
	defer release()
	s.run(t, "", cli.ExitAnswered, []string{"session", "list"}) // who only reads need not wait
	o := s.run(t, "", cli.ExitJournal, s.question(), "locked by another process", app.DatabaseFile(s.data),
		"another program has locked the journal")
	if o.took < patience { // begin ends one that waits for minutes
		t.Errorf("it waited %v, want %v", o.took, patience)
	}
	n := len(s.server.counts())
	assert.That(t, n == 2, "%d turns were asked for, want the 2 of the first question", n)
	release()
	o = s.run(t, "", cli.ExitAnswered, s.question())
	s.check(t, "after the lock", []byte(o.out))
}

func TestJournalThatIsLockedInTheMiddleOfARunStopsItShort(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	release := func() {}
	var locked sync.Once
	s.server.before(func() { locked.Do(func() { release = s.holdLock(t) }) })
	o := s.begin(t, "", s.question()...)()
	release()
	o.want(t, "ask", cli.ExitJournal, "stopped short", "locked by another process", app.DatabaseFile(s.data))
	o = s.run(t, "", cli.ExitAnswered, []string{"run", "resume", "--json"})
	s.check(t, "locked", []byte(o.out))
}

// journaled is one run as ‘run watch’ shows it.
type journaled struct {
	question string
	kinds    []string
	turns    int
}

func (s *story) journal(t *testing.T, id string) (j journaled) {
	t.Helper()
	o := s.run(t, "", cli.ExitAnswered, []string{"run", "watch", "--json", id})
	lines := json.NewDecoder(strings.NewReader(o.out))
	for n := int64(0); lines.More(); n++ {
		var rec struct {
			Seq  int64
			Kind string
			Data struct {
				Kind  string
				Given struct{ Question string }
			}
		}
		assert.NoError(t, lines.Decode(&rec))
		assert.That(t, rec.Seq == n, "record %d of run %s has the number %d", n, id, rec.Seq)
		j.kinds = append(j.kinds, rec.Kind)
		j.question += rec.Data.Given.Question
		if rec.Data.Kind == "model.turn" {
			j.turns++
		}
	}
	return j
}

func TestProcessesThatAskAtTheSameTimeBothGetTheirAnswer(t *testing.T) {
	t.Parallel()
	const processes = 3
	s := newStory(t)
	s.note(t, "greet.go", "package greet\n\n// Greet greets.\nfunc Greet() {}\n")
	var all sync.WaitGroup // of processes whose first turn has not been asked for
	all.Add(processes)
	var mu sync.Mutex
	arrived := 0
	s.server.before(func() {
		mu.Lock()
		arrived++
		meet := arrived <= processes
		mu.Unlock()
		if meet {
			all.Done()
			all.Wait()
		}
	})
	var waits []func() outcome
	for n := range processes { // on a new folder, which each of them finds without a journal
		waits = append(waits, s.begin(t, "", "ask", "--json", "--in", s.vault,
			fmt.Sprintf("How does the Greet%d function work?", n)))
	}
	for n, wait := range waits {
		o := wait()
		o.want(t, fmt.Sprintf("process %d", n), cli.ExitAnswered)
		var a struct {
			Question, Answer string
			RunID            string `json:"run_id"`
			Turns            int
		}
		err := json.Unmarshal([]byte(o.out), &a)
		assert.Require(t, err == nil, "process %d: %v in %q", n, err, o.out)
		want := fmt.Sprintf("How does the Greet%d function work?", n)
		assert.That(t, a.Question == want && strings.Contains(a.Answer, "It greets by name"), "process %d says %+v", n, a)
		j := s.journal(t, a.RunID)
		assert.That(t, j.question == want && j.turns == 2 && j.turns == a.Turns && j.kinds[0] == "start" &&
			j.kinds[len(j.kinds)-1] == "end" && !slices.Contains(j.kinds, "resume"), "process %d has the journal %+v", n, j)
	}
	for _, n := range s.server.counts() {
		assert.That(t, n == 1, "a turn was asked for %d times", n)
	}
}

func TestOfProcessesThatResumeARunOneDoesAndTheOtherSaysWho(t *testing.T) {
	t.Parallel()
	for round := range 4 {
		s := newStory(t)
		_, killed := s.sibyl(t, "-2", s.question()...)
		assert.Require(t, killed, "the run was not interrupted")
		goOn := make(chan struct{})
		s.server.before(func() { <-goOn })
		ended := make(chan outcome)
		for range 2 {
			wait := s.begin(t, "", "run", "resume", "last", "--json")
			go func() { ended <- wait() }()
		}
		(<-ended).want(t, fmt.Sprintf("round %d: the one that came late", round), cli.ExitFailed,
			"another process drives this run", hostname(t)+"-")
		close(goOn) // until now the other one has no answer
		o := <-ended
		o.want(t, fmt.Sprintf("round %d: the one that goes on", round), cli.ExitAnswered)
		s.check(t, "-2", []byte(o.out))
	}
}

func hostname(t *testing.T) string {
	t.Helper()
	name := assert.Must(os.Hostname())(t)
	return name
}

func TestDataFolderThatCanOnlyBeReadIsRead(t *testing.T) {
	t.Parallel()
	s := greeted(t)
	s.closeFolder(t)
	for _, args := range [][]string{{"session", "list"}, {"session", "show"}, {"session", "export"},
		{"session", "audit"}, {"explain"}, {"run", "list"},
		{"session", "prune", "--older-than", "1h", "--dry-run"}} {
		o := s.run(t, onlyReads, cli.ExitAnswered, args)
		assert.That(t, strings.Contains(o.out, "Greet") || slices.Contains(args, "--dry-run"),
			"%s shows %q", strings.Join(args, " "), o.out)
	}
	for _, args := range [][]string{s.question(), {"session", "delete", "last", "--yes"},
		{"session", "rename", "last", "x"}} {
		s.run(t, onlyReads, cli.ExitJournal, args, "can only be read", app.DatabaseFile(s.data), "--data")
	}
	o := s.run(t, onlyReads, cli.ExitFailed, []string{"doctor"})
	assert.That(t, strings.Contains(o.out, "can only be read"), "the doctor says %s", o.out)
	n := len(s.server.counts())
	assert.That(t, n == 2, "%d turns were asked for, want the 2 of the first question", n)
}

// closeFolder takes the right to write the data folder away.
func (s *story) closeFolder(t *testing.T) {
	t.Helper()
	db := app.DatabaseFile(s.data)
	t.Cleanup(func() { _ = os.Chmod(s.data, 0o700) })
	for _, c := range []struct {
		name string
		mode os.FileMode
	}{{db, 0o444}, {s.data, 0o555}, {s.vault, 0o755}, {filepath.Dir(s.data), 0o755}, {filepath.Dir(s.vault), 0o755}} {
		assert.NoError(t, os.Chmod(c.name, c.mode))
	}
}

// faultyStore is “NUMBER FILE”: the call of the journal that fails, negative for one that takes effect and then fails,
// and the file that is made when it does.
const faultyStore = "SIBYL_TEST_FAULTY_STORE"

// failing is a journal of which one call fails, as one on another machine may.
type failing struct {
	journal.Store
	at    int64
	file  string
	calls atomic.Int64
}

// newFailing reads what the environment says; the store itself if it says nothing.
func newFailing(s journal.Store) journal.Store {
	number, file, found := strings.Cut(os.Getenv(faultyStore), " ")
	if !found {
		return s
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		panic(err)
	}
	return &failing{Store: s, at: n, file: file}
}

// around has a call fail if it is the one: before its effect the journal is unreachable, after it nobody can tell.
func (f *failing) around(do func() error) error {
	n := f.calls.Add(1)
	if n != max(f.at, -f.at) {
		return do()
	}
	if err := os.WriteFile(f.file, nil, 0o600); err != nil {
		panic(err)
	}
	if f.at > 0 {
		return fmt.Errorf("the journal of this test: %w", journal.ErrUnreachable)
	}
	if err := do(); err != nil {
		return err
	}
	return fmt.Errorf("the journal of this test: %w", journal.ErrUnsure)
}

func (f *failing) Begin(ctx context.Context, b journal.Beginning) error {
	return f.around(func() error { return f.Store.Begin(ctx, b) })
}

func (f *failing) Append(
	ctx context.Context, owner journal.Owner, run string, recs []journal.Record, end *journal.End,
) error {
	return f.around(func() error { return f.Store.Append(ctx, owner, run, recs, end) })
}

func (f *failing) Acquire(ctx context.Context, owner journal.Owner, run, holder string, now, until time.Time) error {
	return f.around(func() error { return f.Store.Acquire(ctx, owner, run, holder, now, until) })
}

func (f *failing) Release(ctx context.Context, owner journal.Owner, run, holder string, rest time.Time) error {
	return f.around(func() error { return f.Store.Release(ctx, owner, run, holder, rest) })
}

func (f *failing) Run(ctx context.Context, owner journal.Owner, id string) (r journal.Run, err error) {
	err = f.reads(func() error { r, err = f.Store.Run(ctx, owner, id); return err })
	return r, err
}

func (f *failing) Records(
	ctx context.Context, owner journal.Owner, run string, from int64,
) (all []journal.Record, err error) {
	err = f.reads(func() error { all, err = f.Store.Records(ctx, owner, run, from); return err })
	return all, err
}

func (f *failing) Blob(ctx context.Context, owner journal.Owner, hash string) (content []byte, err error) {
	err = f.reads(func() error { content, err = f.Store.Blob(ctx, owner, hash); return err })
	return content, err
}

func (f *failing) Session(ctx context.Context, owner journal.Owner, id string) (s journal.Session, err error) {
	err = f.reads(func() error { s, err = f.Store.Session(ctx, owner, id); return err })
	return s, err
}

func (f *failing) Pending(
	ctx context.Context, owner journal.Owner, session string, now time.Time,
) (all []journal.Pending, err error) {
	err = f.reads(func() error { all, err = f.Store.Pending(ctx, owner, session, now); return err })
	return all, err
}

func (f *failing) Runs(ctx context.Context, owner journal.Owner, filter journal.Filter) (all []journal.Run, err error) {
	err = f.reads(func() error { all, err = f.Store.Runs(ctx, owner, filter); return err })
	return all, err
}

// reads is around for a call without an effect: it fails in one way.
func (f *failing) reads(do func() error) error {
	err := f.around(do)
	if errors.Is(err, journal.ErrUnsure) {
		return fmt.Errorf("the journal of this test: %w", journal.ErrUnreachable)
	}
	return err
}

// TestWhateverCallOfTheJournalFailsNothingIsLost has one call of the journal after the other fail in a run of each
// assistant, before it takes effect or after; in the long form every call. It is told or got over, and nothing is lost
// or doubled.
func TestWhateverCallOfTheJournalFailsNothingIsLost(t *testing.T) {
	needs.All(t, "many processes")
	t.Parallel()
	for name, d := range ordeals() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			points := 0
			for n := 1; ; n += needs.Stride(8) {
				hit := false
				for _, at := range []int{n, -n} {
					file := filepath.Join(t.TempDir(), "hit")
					s := d.begin(t)
					o := s.begin(t, fmt.Sprintf("%s=%d %s", faultyStore, at, file), d.args(s)...)()
					if _, err := os.Stat(file); err != nil {
						break // there are not so many calls
					}
					hit = true
					points++
					s.told(t, o, d.ways)
					d.goesOn(t, s, o)
					s.tidy(t, o)
					assert.Require(t, !t.Failed(), "call %d had failed, and it exited %d:\n%s%s", at, o.code, o.out, o.err)
				}
				if !hit {
					break
				}
			}
			t.Logf("%d calls failed", points)
			assert.That(t, points >= 2, "too few to prove anything")
		})
	}
}

// A data folder whose locks do not hold is refused when it is first used, by servers always, and found by the doctor.
func TestLocksOfTheDataFolderAreTriedWithAnotherProcess(t *testing.T) {
	s := newStory(t)
	refusal := []string{"does not keep two processes apart", s.data, "SIBYL_DATA"}
	add := []string{"task", "add", "Buy milk"}
	s.run(t, locksTried+"=in vain", 5, add, refusal...)
	s.run(t, locksTried+"=truly", 0, add)
	s.run(t, locksTried+"=in vain", 0, add) // it has been tried
	s.run(t, locksTried+"=in vain", 5, []string{"serve", "--listen", "127.0.0.1:0"}, refusal...)
	assert.Contains(t, "the doctor", s.begin(t, locksTried+"=in vain", "doctor")().out, "does not keep two processes apart")
	assert.Lacks(t, "the doctor", s.begin(t, locksTried+"=truly", "doctor")().out, "apart", "could not be tried")
	left := assert.Must(filepath.Glob(filepath.Join(s.data, "*-trial-*")))(t)
	assert.That(t, len(left) == 0, "%v is left", left)
}
