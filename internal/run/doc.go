// Package run drives a behaviour tree over a journal, so that a crash at any point loses nothing and repeats nothing
// that must not be repeated.
//
// The way of a run: what comes in (the person's words, a completed effect, time, a request to stop) is appended as a
// record; then one step of the tree takes it in; then what the step asks for is performed. Nothing else changes a run,
// so folding its records through the same tree gives the same state.
//
// Guarantees:
//   - One record, one step; a record is durable before its step. What the steps decided is derived: folding gives it
//     while the run goes on, and a trace record keeps it once, with the end, for builds that can't fold the run any
//     more. No fold reads it.
//   - An effect that is Once has a mark record before it is performed. Found marked but not completed after a crash, it
//     is looked up by its key; where that can't be told, it completes as the fault "unknown". It is never silently
//     repeated. One that the tree withdraws while it is performed keeps its mark and has no receipt: what became of it
//     is not known.
//   - Other effects that were outstanding in a crash are performed again, once a crash, and the resume record counts
//     them. Nothing is performed that a step asks for and withdraws, or that a step asks for in which the tree breaks.
//   - Each mark and completion names its leaf and the digest of what was asked; a fold that would ask something else
//     stops with ErrDiverged instead of going on from a state that never was.
//   - The run's driver holds a lease, which the process renews for all its runs at once. A driver that lost its run
//     fails at its next append and performs no further effect. A process drives a run once at a time, and frees it when
//     the last effect under way has returned.
//   - A journal that can't be reached is waited for, for the time of a lease. A run that it takes records of by then
//     has lost nothing; whoever has gone on with it meanwhile is noticed by the fence. An effect that is not Once and
//     fails since it can't read the journal has no receipt: the run stops short of it, and whoever goes on performs it
//     again.
//   - A run that a process can't go on with, for a reason that would stand a moment later as well, rests for a minute
//     before any takes it up by itself.
//   - Any process may append a request to stop; the driver takes it in as any other record. Then what only reads is
//     withdrawn, what is Once may finish within a grace, and all that arrives is kept in the stopped record; nothing
//     else is begun. A request that comes after the tree has ended changes nothing.
//   - A process that drains cancels nothing: it takes no more runs, and what still goes on in the end stays open for
//     another process. A leave record says so, so that a run which many restarts move on is not taken for one that no
//     process can drive.
//   - A process drives at most so many runs; those that wait are taken in rotation between their owners, and nothing of
//     them is recorded.
//   - A run that performs an effect of another one (Within) takes no room of its own, so that runs that wait for runs
//     never wait for each other's room. It stops with that effect where the effect is withdrawn or fails, and stays
//     open where a process only leaves. A process that dies between the record that withdraws the effect and the
//     request to stop leaves it to whoever takes it up.
//   - A run that this build can't fold, since another wrote it, is not gone on with, but a request to stop ends it all
//     the same: as cancelled, with what its records say without its tree, and a fault that says why there is no more.
//   - Of one effect at most bt.MaxPayload and MaxResult bytes are kept. What gives more has the fault KindTooLarge, and
//     no result.
//   - Secrets are redacted before a record is appended; the step sees what was appended.
//   - The run's clock counts only while somebody drives it. After a crash it goes on from the last record.
//   - Text that an effect streams is provisional until its completion is recorded, and is only seen by watchers in the
//     same process.
//   - A panic of an assistant's code is the trouble of its run alone: of a performer a fault, of a leaf the end as a
//     broken tree, of Open and Outcome an error that leaves the run open.
package run

import "errors"

// Errors of this package.
var (
	ErrDiverged     = errors.New("the journal does not fit the tree")
	ErrStalled      = errors.New("the tree waits for nothing")
	ErrIncompatible = errors.New("this build can't go on with the run")
	ErrUnfit        = errors.New("the run can't be replayed so")
	ErrDraining     = errors.New("this process takes no more runs")
	ErrLeft         = errors.New("the run was left open for another process")
)

// KindUnknown is the fault of a Once effect of which nobody can tell whether it took effect.
const KindUnknown = "unknown"

// The faults of a tree that broke, of one that would go beyond a bound of trees, and of one that waits for nothing.
const (
	KindTree    = "tree"
	KindBound   = "bound"
	KindStalled = "stalled"
)

// KindTooLarge is the fault of an effect that gave more than a record keeps.
const KindTooLarge = "too_large"

// MaxResult bounds the result of one effect, and all that had arrived of those that were under way when a run stopped,
// in bytes of JSON.
const MaxResult = 4 << 20

// KindCancelled is the fault of an effect that was withdrawn.
const KindCancelled = "cancelled"
