package run_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/bt"
	"sibyl/internal/journal"
	"sibyl/internal/journal/journaltest"
	"sibyl/internal/run"
	"sibyl/internal/store"
)

// poisoned is a run that as many processes as that took up in vain, after a crash before its receipt.
func poisoned(t *testing.T, w *world, store journal.Store, times int) journal.Key {
	t.Helper()
	k := journal.Key{Owner: ada, Run: crash(t, w, store, `<Do what="r:a" got="{got}"/>`, 2, false)}
	for i := range times {
		_, err := w.engine(perishing(store), fmt.Sprint("perishes ", i)).ResumeFound(t.Context(), k)
		assert.Require(t, errors.Is(err, journaltest.ErrDead), "take-up %d: %v", i+1, err)
		pass(lease)
	}
	return k
}

func TestRunThatThreeProcessesDiedOfIsTakenUpByNobody(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world, store journal.Store) {
		k := poisoned(t, w, store, 3)
		e := w.engine(store, "careful")
		same(t, "tries", statusOf(t, store, k.Run).Tries, 3)
		stranded, err := store.Stranded(t.Context(), e.LeaseTimes(), 10)
		same(t, "stranded", fmt.Sprint(len(stranded), err), "0 <nil>")
		looks := 0
		untouched := before(store, func(context.Context) error { looks++; return nil }, "Records")
		for name, take := range map[string]func(*run.Engine) (*run.Live, error){
			"taken up by itself": func(e *run.Engine) (*run.Live, error) { return e.ResumeFound(t.Context(), k) },
			"resumed":            func(e *run.Engine) (*run.Live, error) { return e.Resume(t.Context(), ada, k.Run) },
			"resumed at once": func(e *run.Engine) (*run.Live, error) {
				return e.Resume(t.Context(), ada, k.Run, run.AtOnce)
			},
		} {
			_, err := take(w.engine(untouched, name))
			assert.That(t, errors.Is(err, run.ErrSetAside), "%s: %v", name, err)
			assert.Contains(t, name, fmt.Sprint(err), k.Run, "3 times", "resume --force "+k.Run, "run stop "+k.Run)
		}
		same(t, "looks at its records", looks, 0)
		same(t, "tries after those that were refused", statusOf(t, store, k.Run).Tries, 3)
		_, err = e.Explain(t.Context(), ada, k.Run)
		assert.That(t, errors.Is(err, run.ErrSetAside), "explaining it gives %v", err)
	})
}

func TestRunThatIsSetAsideIsForcedOnceMoreAndThenSettled(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world, store journal.Store) {
		k := poisoned(t, w, store, 3)
		_, err := w.engine(perishing(store), "perishes too").Resume(t.Context(), ada, k.Run, run.Forced)
		assert.Require(t, errors.Is(err, journaltest.ErrDead), "%v", err)
		pass(lease)
		e := w.engine(store, "healed")
		_, err = e.Resume(t.Context(), ada, k.Run)
		assert.That(t, errors.Is(err, run.ErrSetAside), "after another try in vain, resuming gives %v", err)
		live := assert.Must(e.Resume(t.Context(), ada, k.Run, run.Forced, run.AtOnce))(t)
		_, r := wait(t, live)
		same(t, "outcome", r.Got, "A")
	})
}

func TestTakeUpThatSettlesIsCountedAnew(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world, store journal.Store) {
		k := poisoned(t, w, store, 2)
		release := w.holds("a", false)
		live := assert.Must(w.engine(store, "careful").ResumeFound(t.Context(), k))(t)
		synctest.Wait()
		same(t, "tries", statusOf(t, store, k.Run).Tries, 0)
		release()
		_, r := wait(t, live)
		same(t, "outcome", r.Got, "A")
	})
}

// What a build can't go on with is no death: another may.
func TestBuildsThatCanNotFoldARunDoNotSetItAside(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world, store journal.Store) {
		id := crash(t, w, store, oldTree, 3, false)
		for range 2 * journal.MaxTries {
			_, err := w.engine(store, "next", nextBuild).ResumeFound(t.Context(),
				journal.Key{Owner: ada, Run: id})
			assert.Require(t, errors.Is(err, run.ErrIncompatible), "%v", err)
		}
		_, r := wait(t, resume(t, w.engine(store, "old"), id))
		same(t, "outcome", r.Got, "B!")
	})
}

func TestCancelOfARunThatAProcessDiedOfDoesNotGoThroughIt(t *testing.T) {
	for _, times := range []int{1, 3} {
		inWorld(t, func(t *testing.T, w *world, store journal.Store) {
			k := poisoned(t, w, store, times)
			before := w.begun()
			unreadable := w.with(append(leaves()[1:], bt.Func("Do", "must not be asked",
				func(struct{}, *struct{}) error { panic("it was gone through") }))...)
			assert.NoError(t, w.engine(store, "careful", unreadable).Cancel(t.Context(), ada, k.Run, "enough"))
			end := assert.Must(run.ReadEnd(t.Context(), store, ada, k.Run))(t)
			same(t, "status", statusOf(t, store, k.Run).Status, journal.Cancelled)
			same(t, "effects", w.begun(), before)
			assert.That(t, strings.Contains(end.Fault.Reason, "enough") &&
				strings.Contains(end.Fault.Reason, "ended before it had read") && !strings.Contains(end.Fault.Reason, "leaves"),
				"the end says %q", end.Fault.Reason)
		})
	}
}

func TestWatcherOfARunThatAProcessDiedOfSeesItsRecordsAlone(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world, store journal.Store) {
		k := poisoned(t, w, store, 1)
		ctx, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		var recs, steps int
		for u, err := range w.engine(store, "watches").Watch(ctx, ada, k.Run, 0) {
			assert.Require(t, err == nil || ctx.Err() != nil, "%v", err)
			if u.Record != nil {
				recs++
			}
			if u.Step != nil {
				steps++
			}
		}
		same(t, "records and steps", fmt.Sprint(recs, steps), "1 0")
	})
}

// roleEnv has the test binary be a process that works on the journal in a folder: "begin", "take up", "resume", "force"
// or "cancel".
const roleEnv, folderEnv = "SIBYL_RUN_TEST_ROLE", "SIBYL_RUN_TEST_FOLDER"

// How a process of the test ends: of the leaf, or because the run is set aside.
const statusPerished, statusRefused = 7, 8

const lethalRun = "lethal"

// lethal is a process with a leaf that ends it. It gives the status that it exits with.
func lethal(role, folder string) int {
	store, err := store.OpenFile(context.Background(), filepath.Join(folder, "sibyl.db"))
	if err != nil {
		return fail(err)
	}
	w := newWorld(nil)
	a := w.assistant()
	a.Leaves = w.leavesOf(append(leaves(), bt.Func("Perish", "ends the process", func(struct{}, *struct{}) error {
		os.Exit(statusPerished)
		return nil
	}))...)
	waiting := journaltest.Await(store, journal.Session{ID: session, Owner: ada, CreatedAt: time.Now(),
		UpdatedAt: time.Now()})
	// Leases that others left count as run out: that a process is gone is not what is tested here.
	e, err := run.NewEngine(run.Config{Store: waiting, Assistants: []*run.Assistant{a}, Build: "test",
		Holder: fmt.Sprint(os.Getpid()), Dead: func(string) bool {
			return true
		}})
	if err != nil {
		return fail(err)
	}
	ctx, k := context.Background(), journal.Key{Owner: ada, Run: lethalRun}
	var live *run.Live
	switch role {
	case "begin":
		s := spec(`<Sequence><Do what="r:a" got="{got}"/><Perish/></Sequence>`)
		s.ID = lethalRun
		live, err = e.Start(ctx, s)
	case "take up":
		live, err = e.ResumeFound(ctx, k)
	case "resume":
		live, err = e.Resume(ctx, ada, k.Run)
	case "force":
		live, err = e.Resume(ctx, ada, k.Run, run.Forced)
	case "cancel":
		err = e.Cancel(ctx, ada, k.Run, "enough")
	}
	if live != nil && err == nil {
		_, err = live.Wait(ctx)
	}
	switch {
	case errors.Is(err, run.ErrSetAside):
		return statusRefused
	case err != nil:
		return fail(err)
	}
	return 0
}

func fail(err error) int {
	fmt.Fprintln(os.Stderr, err)
	return 1
}

// TestRunThatEndsEveryProcessThatReadsItIsSetAsideAndCancelled runs real processes, which a leaf ends in the middle of
// a step: first of the one that drives the run, then of those that go through its records.
func TestRunThatEndsEveryProcessThatReadsItIsSetAsideAndCancelled(t *testing.T) {
	folder := t.TempDir()
	for i, c := range []struct {
		role string
		want int
	}{
		{"begin", statusPerished}, {"take up", statusPerished}, {"resume", statusPerished}, {"take up", statusPerished},
		{"take up", statusRefused}, {"resume", statusRefused}, {"force", statusPerished}, {"resume", statusRefused},
		{"cancel", 0},
	} {
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), roleEnv+"="+c.role, folderEnv+"="+folder)
		said, err := cmd.CombinedOutput()
		if code := cmd.ProcessState.ExitCode(); code != c.want {
			t.Fatalf("process %d, %s: %v with status %d, want %d: %s", i, c.role, err, code, c.want, said)
		}
	}
	store := assert.Must(store.OpenFile(t.Context(), filepath.Join(folder, "sibyl.db")))(t)
	defer func() { _ = store.Close() }()
	same(t, "status", statusOf(t, store, lethalRun).Status, journal.Cancelled)
}

func TestResultThatIsTooLargeIsLeftOutAndSaysSo(t *testing.T) {
	large := strings.Repeat("x", run.MaxResult)
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"of a success": {nil, "read a was performed, but its result has 4194306 bytes, and at most 4194304 are kept of one"},
		"of a failure": {&bt.Fault{Kind: "garbled", Reason: "it went on"},
			"it went on; its result has 4194306 bytes, and at most 4194304 are kept of one"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			store := localStore(t)
			w.do["a"] = func(context.Context, run.Job) (any, error) { return large, c.err }
			live := start(t, w.engine(store, "one"), `<Do what="r:a" got="{got}"/>`)
			_, r := wait(t, live)
			same(t, "fault", r.Fault.Reason, c.want)
			size := 0
			for _, rec := range records(t, store, live.ID) {
				size += len(rec.Data)
			}
			assert.That(t, size <= 16<<10, "the records have %d bytes", size)
		})
	}
}

func TestWhatHadArrivedOfAStoppedRunIsBoundedTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		store := localStore(t)
		for _, name := range []string{"a", "b", "c"} {
			w.do[name] = func(ctx context.Context, _ run.Job) (any, error) {
				<-ctx.Done()
				return strings.Repeat("x", run.MaxResult/2), ctx.Err()
			}
		}
		live := start(t, w.engine(store, "one"), `<Do what="r:a r:b r:c" got="{got}"/>`)
		synctest.Wait()
		live.Cancel("enough")
		_, r := wait(t, live)
		same(t, "under way", len(r.Under), 3)
		for _, rec := range records(t, store, live.ID) {
			assert.That(t, rec.Kind != run.KindStopped || (len(rec.Data) <= run.MaxResult+16<<10 &&
				len(rec.Data) >= run.MaxResult/2), "the stopped record has %d bytes", len(rec.Data))
		}
	})
}

func TestTreeThatGoesBeyondABoundEndsWithAFaultThatNamesIt(t *testing.T) {
	w := newWorld(t)
	store := localStore(t)
	live := start(t, w.engine(store, "one"),
		`<Sequence><Do what="r:a" got="{got}"/><Script code="t := got; done := false"/>
		<Loop max="64" until="{done}"><Script code="t := t .. t"/></Loop></Sequence>`)
	_, r := wait(t, live)
	same(t, "kind", r.Fault.Kind, run.KindBound)
	assert.That(t, strings.Contains(r.Fault.Reason, "key {t}") && strings.Contains(r.Fault.Reason, "4194304"),
		"fault: %s", r.Fault.Reason)
	steps, err := w.engine(store, "two").Explain(t.Context(), ada, live.ID)
	assert.That(t, err == nil && len(steps) != 0, "explained: %d steps, %v", len(steps), err)
}
