package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"sibyl/internal/bt"
	"sibyl/internal/journal"
)

// ResumeOption says how a run is resumed.
type ResumeOption int

const (
	Forced  ResumeOption = iota // resumes a run that is set aside, too
	AtOnce                      // does not wait for room: ErrNoRoom if there is none
	Unasked                     // for a process that found the run by itself: ErrResting after too many fruitless resumes
)

// Resume resumes a run that nobody drives: it folds the records and performs what is outstanding. It waits for room as
// Start does. ErrSetAside for a run that is set aside, unless Forced. ErrIncompatible if this build can't resume the
// run; it stays open then, for the build that wrote it or for Cancel. The error of Assistant.Lacks if this process
// lacks something.
func (e *Engine) Resume(ctx context.Context, owner journal.Owner, id string, how ...ResumeOption) (*Live, error) {
	if err := e.enter(ctx, owner, !slices.Contains(how, AtOnce)); err != nil {
		return nil, err
	}
	return e.resumeNow(ctx, journal.Key{Owner: owner, Run: id}, how, e.exit)
}

// resumeNow is Resume without waiting for room. It calls exit once this process no longer drives the run, or on error.
func (e *Engine) resumeNow(
	ctx context.Context, k journal.Key, how []ResumeOption, exit func(),
) (live *Live, err error) {
	err = e.driveUnderLease(ctx, k, func() (rest time.Time, err error) {
		d, err := e.readAndFold(ctx, k, func(r journal.Run) error {
			return cmp.Or(e.lackedBy(ctx, e.assistants[r.Assistant]), checkTries(r, slices.Contains(how, Forced)))
		})
		if err != nil {
			return rest, err
		}
		if slices.Contains(how, Unasked) && d.fruitlessResumes() >= mostFruitless {
			return e.Clock.Now().Add(fruitlessRest), fmt.Errorf("run %s was resumed %d times without progress: %w",
				d.ID, mostFruitless, ErrResting)
		}
		d.exit = exit
		live, err = d.openAndDrive(ctx, true)
		return rest, err
	})
	if err != nil {
		exit()
	}
	return live, err
}

// readAndFold reads and folds the records of a run under this process's lease, then settles the run in the store, and
// returns its driver. mayRead may forbid the reading. ErrIncompatible if this build can't continue the run.
func (e *Engine) readAndFold(ctx context.Context, k journal.Key, mayRead func(journal.Run) error) (*driver, error) {
	r, err := e.Store.Run(ctx, k.Owner, k.Run)
	if err == nil {
		err = mayRead(r)
	}
	if err != nil {
		return nil, err
	}
	recs, a, tree, err := e.readRunAndTree(ctx, r.Owner, r.ID)
	if err != nil {
		return nil, err
	}
	d := e.newDriver(a, tree, r)
	if err := d.foldAndShow(recs); err != nil {
		return nil, e.explainFoldError(r.ID, recs, err)
	}
	d.base = d.f.now
	return d, e.Store.Settle(ctx, k.Owner, k.Run, e.Holder)
}

// checkTries returns ErrSetAside, unless forced, if too many processes tried to resume a run: they may have died of it.
func checkTries(r journal.Run, force bool) error {
	if r.Tries <= journal.MaxTries || force {
		return nil
	}
	return fmt.Errorf("%w: %s; ‘sibyl run resume --force %s’ tries again, ‘sibyl run stop %s’ ends it", ErrSetAside,
		WhySetAside(r).Text, r.ID, r.ID)
}

const whySetAside bt.Reason = "run.set_aside: run {run} was taken up {tries} times, and each time the program ended " +
	"before it had read the run's records"

// Reasons are the reasons that this package gives for runs of any assistant.
func Reasons() []bt.Reason {
	return []bt.Reason{whySetAside, whyInterrupted, whyRests, bt.TwoSentences}
}

// WhySetAside says why a run is set aside.
func WhySetAside(r journal.Run) bt.Why { return whySetAside.With(r.ID, journal.MaxTries) }

// checkFoldable returns an error if folding a run only to look at it is unsafe: whoever resumed it has not settled.
func (e *Engine) checkFoldable(ctx context.Context, owner journal.Owner, id string) error {
	r, err := e.Store.Run(ctx, owner, id)
	switch {
	case err != nil:
		return err
	case r.SetAside():
		return checkTries(journal.Run{ID: id, Tries: r.Tries + 1}, false)
	case r.Tries > 0:
		return fmt.Errorf("run %s: %w", id, errUnsettled)
	}
	return nil
}

// errUnsettled says that a process tried to resume a run and has not settled it.
var errUnsettled = errors.New(
	"it is being resumed, or the program that tried ended before it had read the run's records; try again later")

// Errors of resuming with AtOnce or Unasked.
var (
	ErrNoRoom   = errors.New("this process drives as many runs as it may")
	ErrSetAside = errors.New("the run is set aside")
	ErrResting  = errors.New("the run rests")
)

// How long a run rests, so that no process resumes it unasked. A suspended run rests longer each time it is suspended
// without progress; after mostFruitless resumes without progress a run rests for fruitlessRest.
const (
	firstRest     = time.Minute
	longestRest   = time.Hour
	mostFruitless = 5
	fruitlessRest = 24 * time.Hour
)

// Submit records a run and drives it, as Start does, if this process has room; otherwise the run waits for any process
// that has room, and Live is nil. If ctx is cancelled before the run is recorded, there is no run; after that, the run
// continues.
func (e *Engine) Submit(ctx context.Context, s Spec) (journal.Key, *Live, error) {
	a, tree, err := e.startable(s)
	if err != nil {
		return journal.Key{}, nil, err
	}
	if err := e.enter(ctx, s.Owner, false); errors.Is(err, ErrNoRoom) {
		b, err := e.newBeginning(s, true)
		if err != nil {
			return journal.Key{}, nil, err
		}
		k := journal.Key{Owner: s.Owner, Run: b.Run.ID}
		if err = e.storeBeginning(ctx, b); err == nil {
			e.listeners.notify(k)
		}
		return k, nil, err
	} else if err != nil {
		return journal.Key{}, nil, err
	}
	live, err := e.recordAndDrive(ctx, context.WithoutCancel(ctx), a, tree, s, e.exit)
	if err != nil {
		return journal.Key{}, nil, err
	}
	return live.key(), live, nil
}

// lackError is what this process lacks to drive runs of an assistant.
type lackError struct{ error }

func (l *lackError) Unwrap() error { return l.error }

// lackedBy returns a lackError if this process lacks something to drive runs of an assistant.
func (e *Engine) lackedBy(ctx context.Context, a *Assistant) error {
	if a == nil || a.Lacks == nil {
		return nil
	}
	if err := a.Lacks(ctx); err != nil {
		return &lackError{err}
	}
	return nil
}

// Stranded lists the runs that this process may resume, as journal.Store.Stranded does, without those of assistants for
// which it lacks something.
func (e *Engine) Stranded(ctx context.Context, limit int) ([]journal.Run, error) {
	var without []string
	for _, name := range slices.Sorted(maps.Keys(e.assistants)) {
		if e.lackedBy(ctx, e.assistants[name]) != nil {
			without = append(without, name)
		}
	}
	return e.Store.Stranded(ctx, e.LeaseTimes(), limit, without...)
}

// ResumeFound resumes a run that a process has found by itself, if there is room: with AtOnce and Unasked.
func (e *Engine) ResumeFound(ctx context.Context, k journal.Key) (*Live, error) {
	return e.Resume(ctx, k.Owner, k.Run, AtOnce, Unasked)
}

// restIfBroken lets a run rest if it can't continue here, since the same trouble, such as an end that the journal
// refuses, would come again at once. If only the journal is away or locked, the run does not rest.
func (d *driver) restIfBroken(ctx context.Context) {
	if d.err == nil || errors.Is(d.err, ErrLeft) || lossReason(d.err) != LostBroken {
		return
	}
	d.e.Log.WarnContext(ctx, "a run can't go on here", "run_id", d.ID, "err", logText(d.err))
	if !isAway(d.err) {
		d.rest = d.e.Clock.Now().Add(firstRest)
	}
}

// isAway reports whether the journal may be back a moment later.
func isAway(err error) bool {
	return errors.Is(err, journal.ErrUnreachable) || errors.Is(err, journal.ErrUnsure) ||
		errors.Is(err, journal.ErrLocked)
}

// Vacancy signals that room may have become free, for whoever looks for runs.
func (e *Engine) Vacancy() <-chan struct{} { return e.room.vacancy }

// Room returns how many more runs this process may drive; less than 0: any number.
func (e *Engine) Room() int { return e.room.freeRoom() }

// fruitlessResumes counts the resumes at the end of the journal: none of them brought progress.
func (d *driver) fruitlessResumes() (n int) {
	for _, r := range slices.Backward(d.view.Records()) {
		if r.Kind != KindResume {
			break
		}
		n++
	}
	return n
}

// suspendedRest returns the rest of a suspended run: doubled at each suspension without progress.
func (d *driver) suspendedRest() time.Duration {
	rest := firstRest / 2
	for _, r := range slices.Backward(d.view.Records()) {
		switch r.Kind {
		case KindResume, KindLeave:
		case KindSuspend:
			rest = min(2*rest, longestRest)
		default:
			return max(rest, firstRest)
		}
	}
	return max(rest, firstRest)
}

// Cancel asks a run to stop. If a process drives the run, Cancel returns at once, and the run stops soon after. If
// nobody drives it, Cancel resumes the run only to end it, performs nothing more of it, and waits for its end. It ends
// the run without folding its records if this build can't fold them, or if the last process that tried may have died of
// them; the fault says so.
func (e *Engine) Cancel(ctx context.Context, owner journal.Owner, id, reason string) error {
	k := journal.Key{Owner: owner, Run: id}
	live := e.liveRun(k)
	if live != nil {
		live.Cancel(reason)
		return nil
	}
	err := e.driveUnderLease(ctx, k, func() (_ time.Time, err error) {
		if err := e.appendCancel(ctx, k, reason); err != nil {
			return time.Time{}, err
		}
		d, err := e.readAndFold(ctx, k, func(r journal.Run) error {
			if r.Tries > 1 { // this try is counted, too
				return errReaderDied
			}
			return nil
		})
		switch {
		case errors.Is(err, ErrIncompatible) || errors.Is(err, errReaderDied):
			if err = e.abandon(ctx, k, err); err == nil {
				e.unmarkDriven(k)
			}
		case err == nil:
			live, err = d.openAndDrive(ctx, true)
		}
		return time.Time{}, err
	})
	switch {
	case isLeased(err):
		return e.appendCancel(ctx, k, reason)
	case err != nil || live == nil:
		return err
	}
	_, err = live.Wait(ctx)
	return err
}

// errReaderDied is why a run is ended without folding its records.
var errReaderDied = errors.New("the program that last resumed it ended before it had read the run's records")

// appendCancel leaves the request for the driver, which may append at the same moment.
func (e *Engine) appendCancel(ctx context.Context, k journal.Key, reason string) error {
	data, err := encode(KindCancel, CancelRecord{Reason: reason})
	if err != nil {
		return err
	}
	return retryConflicts(k, func() error {
		r, err := e.Store.Run(ctx, k.Owner, k.Run)
		if err != nil {
			return err
		}
		rec := e.newRecord(r.Records, e.Clock.Now(), KindCancel, data)
		return e.commit(ctx, k, []journal.Record{rec}, nil)
	})
}

// maxConflicts is how many append conflicts are retried.
const maxConflicts = 20

// retryConflicts calls appendTo again as long as another process appended first.
func retryConflicts(k journal.Key, appendTo func() error) error {
	for range maxConflicts {
		if err := appendTo(); !isConflict(err) {
			return err
		}
	}
	return fmt.Errorf("run %s: %w, again and again", k.Run, journal.ErrConflict)
}
