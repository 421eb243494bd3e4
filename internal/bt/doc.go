// Package bt is a behaviour-tree kernel: trees as data, ticks as pure functions, state as plain data. It imports the
// standard library only.
//
// Vocabulary and file format are those of BehaviorTree.CPP v4 (XML, which Groot2 opens); the engine is not. Guarantees:
//
//   - A tick is pure: no clock, randomness, I/O, goroutine or map order. The same tree, state and input give the same
//     status, effects and events, always.
//   - A Tree is immutable and safe for concurrent use. A State belongs to one run and to one goroutine at a time. After
//     a restart, the inputs so far make an equal one.
//   - A node that did not return RUNNING is idle: its cell is zero and nothing below it runs. There are two exceptions:
//     RunOnce remembers its result, and SequenceWithMemory its position.
//   - Time is Input.Now, in milliseconds of run time. It never decreases; a smaller value counts as the last one.
//   - Every FAILURE has a reason, carried up to Result.Fault.
//   - Wiring is checked when a tree is loaded: unknown nodes, missing or unknown ports, keys that nothing writes, wrong
//     types. Each problem says file:line:column and what would fix it.
//   - Effects are requested here, never performed: Result.Start lists them, later inputs complete them. An operation
//     id is never used twice in a run; a completion for a halted operation is dropped.
//   - The visits of one Step and the work of its scripts are capped, so that no tree can spin; so are the texts of the
//     blackboard. The time of a Step is in proportion to its visits and to the number of running nodes, if these are
//     visited and halted in the order in which they began. A tree that would exceed a bound fails with an ErrBound that
//     names the key or the bound.
//   - The size, the depth, the nodes, the attributes and the names of a file are capped, and loading takes time in
//     proportion to its size.
//
// Where BT.CPP 4.10 contradicts its documentation or itself, the sane reading wins; testdata/bt_cases.json lists these
// cases as "recommended".
package bt

// Status is what a node returned, or Idle.
type Status uint8

// The statuses of BT.CPP v4.
const (
	Idle Status = iota
	Running
	Success
	Failure
	Skipped
)

var statusNames = [...]string{"IDLE", "RUNNING", "SUCCESS", "FAILURE", "SKIPPED"}

func (s Status) String() string { return statusNames[s] }

// MarshalText gives BT.CPP's name of the status.
func (s Status) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads BT.CPP's name of a status.
func (s *Status) UnmarshalText(text []byte) error {
	for i, name := range statusNames {
		if name == string(text) {
			*s = Status(i)
			return nil
		}
	}
	return &valueError{what: string(text), want: "a status: SUCCESS, FAILURE, RUNNING, SKIPPED or IDLE"}
}

// valueError is a text that does not have the required form.
type valueError struct{ what, want string }

func (e *valueError) Error() string { return "‘" + clipped(e.what) + "’ is not " + e.want }
