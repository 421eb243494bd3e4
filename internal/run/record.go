package run

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"sibyl/internal/bt"
	"sibyl/internal/journal"
)

// The kinds of record.
const (
	KindStart      = "start"      // StartRecord, always number 0
	KindMark       = "mark"       // MarkRecord: a Once effect is about to be performed
	KindCompletion = "completion" // CompletionRecord: the receipt of an effect
	KindTime       = "time"       // TimeRecord: a timer of the tree is due
	KindCancel     = "cancel"     // CancelRecord: somebody wants the run to stop
	KindStopped    = "stopped"    // StoppedRecord: what was under way when it stopped
	KindResume     = "resume"     // ResumeRecord: another driver took over
	KindTrace      = "trace"      // TraceRecord: what the steps before it decided
	KindEnd        = "end"        // EndRecord, always the last
)

// StartRecord is all that a run is born with. Tree and Texts name blobs.
type StartRecord struct {
	Assistant string                     `json:"assistant"`
	Build     string                     `json:"build"`
	TreeFile  string                     `json:"tree_file"`
	Tree      string                     `json:"tree"`
	Texts     []NamedBlob                `json:"texts,omitempty"`
	Given     map[string]json.RawMessage `json:"given"` // keys of the tree's root scope
	Env       json.RawMessage            `json:"env,omitempty"`
}

// NamedBlob is a text kept by its content.
type NamedBlob struct {
	Name string `json:"name"`
	Blob string `json:"blob"`
}

// MarkRecord says that a Once effect is about to be performed.
type MarkRecord struct {
	Op     uint64 `json:"op"`
	Leaf   string `json:"leaf"`
	Digest string `json:"digest"`
}

// CompletionRecord is the receipt of an effect: exactly one of Result and Err tells how it went; Result may stand beside
// Err and is then what had arrived.
type CompletionRecord struct {
	Op      uint64          `json:"op"`
	Leaf    string          `json:"leaf"`
	Kind    string          `json:"kind"`
	Label   string          `json:"label,omitempty"`
	Digest  string          `json:"digest"`
	Payload json.RawMessage `json:"payload"`
	Once    bool            `json:"once,omitempty"`
	Found   bool            `json:"found,omitempty"` // performed before a crash, found afterwards
	Now     int64           `json:"now"`
	TookMS  int64           `json:"took_ms"`
	Result  json.RawMessage `json:"result,omitempty"`
	Err     *bt.Fault       `json:"err,omitempty"`
}

// TimeRecord carries the run time at which a timer acts, in ms.
type TimeRecord struct {
	Now int64 `json:"now"`
}

// CancelRecord is a wish to stop.
type CancelRecord struct {
	Reason string `json:"reason"`
}

// StoppedRecord is what was under way when the run stopped: partial results, and receipts that came in last.
type StoppedRecord struct {
	Now   int64              `json:"now"`
	Under []CompletionRecord `json:"under,omitempty"`
}

// ResumeRecord says who took the run over, and which effects are performed again.
type ResumeRecord struct {
	Holder   string   `json:"holder"`
	Build    string   `json:"build"`
	Now      int64    `json:"now"`
	Repeated []uint64 `json:"repeated,omitempty"`
}

// TraceRecord holds what steps decided.
type TraceRecord struct {
	Steps []TraceStep `json:"steps"`
}

// TraceStep is one step: the record it took in, and what happened, in order.
type TraceStep struct {
	Record int64        `json:"record"`
	Status string       `json:"status"`
	Events []TraceEvent `json:"events"`
	Start  []string     `json:"start,omitempty"`  // effects asked for, by label
	Cancel []uint64     `json:"cancel,omitempty"` // operations halted
}

// TraceEvent is a leaf or guard that was ticked or halted, or a key that was written.
type TraceEvent struct {
	Path   string `json:"path"`
	Status string `json:"status,omitempty"`
	Note   string `json:"note,omitempty"`
	Key    string `json:"key,omitempty"`
	Value  string `json:"value,omitempty"`
}

// EndRecord is how a run ended. Outcome is the assistant's own.
type EndRecord struct {
	Status  journal.Status  `json:"status"`
	Fault   *bt.Fault       `json:"fault,omitempty"`
	Now     int64           `json:"now"`
	Outcome json.RawMessage `json:"outcome,omitempty"`
}

// Digest names what an effect asks for.
func Digest(e bt.Effect) string {
	b := make([]byte, 0, len(e.Leaf)+len(e.Kind)+len(e.Payload)+2)
	b = append(append(b, e.Leaf...), 0)
	b = append(append(b, e.Kind...), 0)
	sum := sha256.Sum256(append(b, e.Payload...))
	return hex.EncodeToString(sum[:12])
}

// decode reads a record's data as T.
func decode[T any](r journal.Record) (T, error) {
	var v T
	if err := json.Unmarshal(r.Data, &v); err != nil {
		return v, fmt.Errorf("record %d (%s): %w: %w", r.Seq, r.Kind, journal.ErrCorrupt, err)
	}
	return v, nil
}
