// Package run drives a behaviour tree over a journal, so that a crash at any point loses nothing and repeats nothing
// that must not be repeated.
//
// Each input of a run (the person's words, a completed effect, time, a request to stop) is appended as a record; then
// the tree takes one step on it; then the effects that the step requests are performed. Nothing else changes a run, so
// folding its records through the same tree gives the same state.
//
// Guarantees:
//   - One record, one step; a record is durable before its step. What the steps decided is derived: folding computes it
//     while the run is running, and a trace record keeps it once, with the end, for builds that can't fold the run any
//     more. No fold reads it.
//   - An effect that is Once has a mark record before it is performed. If it is marked but not completed after a crash,
//     it is looked up by its key; if that gives no result, it completes with the fault "unknown". It is never silently
//     repeated. If the tree withdraws it while it is performed, it keeps its mark and has no receipt: whether it took
//     effect is not known.
//   - Other effects that were outstanding in a crash are performed again, once a crash, and the resume record counts
//     them. Nothing is performed that a step asks for and withdraws, or that a step asks for in which the tree breaks.
//   - Each mark and completion names its leaf and the digest of what was asked; a fold with another request stops with
//     ErrDiverged instead of continuing from a state that never was.
//   - The run's driver holds a lease, which the process renews for all its runs at once. A driver that lost its run
//     fails at its next append and performs no further effect. A process drives a run once at a time, and frees it when
//     the last effect under way has returned.
//   - If the journal can't be reached, the driver waits for the time of a lease. If it can append by then, nothing is
//     lost; the fence detects another driver. An effect that is not Once and fails because it can't read the journal
//     has no receipt: the run stops before it, and the next driver performs it again.
//   - If a process can't continue a run, for a reason that will last, the run rests for a minute before a process
//     resumes it by itself.
//   - Any process may append a request to stop; the driver handles it as any other record. Then effects that only read
//     are withdrawn, Once effects may finish within a grace, and all results that arrive are kept in the stopped
//     record; nothing else begins. A request after the tree has ended changes nothing.
//   - A process that drains cancels nothing: it accepts no more runs, and those still running at the end are left to
//     other processes. A leave record says so, so that a run that many restarts move on does not count as one that no
//     process can drive.
//   - A process drives at most so many runs; waiting runs are taken in rotation between their owners, and waiting is
//     not recorded.
//   - A run that performs an effect of another one (Within) takes no room of its own, so that runs that wait for runs
//     never wait for each other's room. It stops with that effect where the effect is withdrawn or fails, and stays
//     open where a process only leaves. If a process dies between the record that withdraws the effect and the request
//     to stop, whoever resumes the run requests that.
//   - A run that this build can't fold, since another wrote it, is not continued, but a request to stop ends it all the
//     same: as cancelled, with what its records say without its tree, and a fault that says why there is no more.
//   - At most bt.MaxPayload and MaxResult bytes of one effect are kept. An effect with more has the fault KindTooLarge,
//     and no result.
//   - Secrets are redacted before a record is appended; the step sees what was appended.
//   - The run's clock counts only while somebody drives it. After a crash it continues from the last record.
//   - Text that an effect streams is provisional until its completion is recorded, and is only seen by watchers in the
//     same process.
//   - A panic in an assistant's code affects only its run: in a performer it is a fault, in a leaf it ends the run as a
//     broken tree, in Open and Outcome it is an error that leaves the run open.
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
