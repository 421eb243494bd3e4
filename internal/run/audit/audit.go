// Package audit lists what was decided and done in a run of any assistant.
//
// Guarantees:
//   - It decides nothing and folds nothing: all that it lists is in the records, or in the steps that it is given.
//   - Each record is read on its own. What can't be read, or lacks what it should say, is remarked on and hides nothing
//     else.
//   - An effect has the state ok, found or failed only by its receipt. What is marked and has none is unknown once the
//     run is over.
package audit

import (
	"encoding/json"
	"time"

	"sibyl/internal/bt"
	"sibyl/internal/journal"
	"sibyl/internal/run"
)

// Run is what the journal holds on one run, each list in order. Records are numbered from 0.
type Run struct {
	Run       string         `json:"run_id"`
	Session   string         `json:"session_id"`
	Assistant string         `json:"assistant"`
	Title     string         `json:"title"`
	Status    journal.Status `json:"status"`
	StartedAt time.Time      `json:"started_at"`
	EndedAt   time.Time      `json:"ended_at,omitzero"`
	Records   int            `json:"records"`
	Build     string         `json:"build"`
	TreeFile  string         `json:"tree_file"`
	Tree      string         `json:"tree"` // the blob that holds it
	Decisions []Decision     `json:"decisions"`
	Effects   []Effect       `json:"effects"`
	Inputs    []Input        `json:"events"`
	End       *End           `json:"end,omitempty"` // none: the run is not over
	Remarks   []string       `json:"remarks"`       // what the records lack, or hold that can't be read
}

// Decision is what one node did in a step. Rule is bt.Tree.Rule of the node.
type Decision struct {
	Record int64  `json:"record"` // the input of the step
	Rule   string `json:"rule"`
	// SUCCESS, FAILURE, RUNNING or SKIPPED as in BehaviorTree.CPP, or HALTED
	Status string          `json:"status,omitempty"`
	Reason string          `json:"reason,omitempty"`
	Type   string          `json:"type,omitempty"` // of the event that tells what it decided
	Data   json.RawMessage `json:"data,omitempty"` // … and its fields
	Wrote  []Written       `json:"wrote,omitempty"`
}

// Written is a key that a node set, with the beginning of its value.
type Written struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// Effect is something that the tree asked for. What the records do not say is empty.
type Effect struct {
	run.RequestedEffect
	Once     bool      `json:"once"`
	Asking   *int64    `json:"asked_record,omitempty"`   // whose step asked for it
	Mark     *int64    `json:"mark_record,omitempty"`    // before it was performed, if it is once
	Receipt  *int64    `json:"receipt_record,omitempty"` // its completion, or the record of the stop
	At       time.Time `json:"at,omitzero"`              // of the receipt
	RunMS    int64     `json:"run_ms"`                   // of the receipt
	TookMS   int64     `json:"took_ms"`
	State    State     `json:"state"`
	Why      string    `json:"why,omitempty"`
	Stopped  bool      `json:"under_way_at_stop,omitempty"`
	Repeated int       `json:"repeated,omitempty"` // how often it was performed again after an interruption
	Detail   any       `json:"detail,omitempty"`   // the assistant's details of the receipt
}

// State is the state of an effect.
type State string

const (
	OK        State = "ok"
	Failed    State = "failed"
	Found     State = "found"     // performed before a crash, and found by its key afterwards
	Withdrawn State = "withdrawn" // by the tree or by a stop; it only reads
	Unknown   State = "unknown"   // it writes, and nobody can tell whether it took effect
	UnderWay  State = "under way" // the run is not over, and it has no receipt
)

// Input is a record that is no receipt: a timer, a request to stop, the stop, another driver.
type Input struct {
	Record   int64     `json:"record"`
	At       time.Time `json:"at"`
	Kind     string    `json:"kind"` // time, cancel, stopped or resume
	RunMS    int64     `json:"run_ms,omitempty"`
	Reason   string    `json:"reason,omitempty"`   // of the request
	Holder   string    `json:"holder,omitempty"`   // who took over
	Build    string    `json:"build,omitempty"`    // and with which program
	Repeated []uint64  `json:"repeated,omitempty"` // the operations that were performed again
}

// End is how the run ended and why.
type End struct {
	Record int64          `json:"record"`
	At     time.Time      `json:"at"`
	RunMS  int64          `json:"run_ms"`
	Status journal.Status `json:"status"`
	Reason string         `json:"stop_reason,omitempty"` // in its assistant's words
	Fault  *bt.Fault      `json:"fault,omitempty"`
}
