package run

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"iter"
	"reflect"
	"slices"

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
	KindSuspend    = "suspend"    // SuspendRecord: an effect can't be performed for now
	KindLeave      = "leave"      // LeaveRecord: a process that stops leaves it to others
	KindResume     = "resume"     // ResumeRecord: another driver took over
	KindTrace      = "trace"      // TraceRecord: what the steps decided, kept once with the end
	KindEnd        = "end"        // EndRecord, always the last
)

// StartRecord has all inputs of a run. Tree and Texts name blobs.
type StartRecord struct {
	Assistant string          `json:"assistant"`
	Build     string          `json:"build"`
	TreeFile  string          `json:"tree_file"`
	Tree      string          `json:"tree"`
	Texts     []NamedBlob     `json:"texts,omitempty"`
	Given     Given           `json:"given"`
	Env       json.RawMessage `json:"env,omitempty"`
	Consumed  []string        `json:"consumed,omitempty"` // pending rows that it used up
	Asked     string          `json:"asked,omitempty"`    // a digest of the request, if it had an idempotency key
	Waits     bool            `json:"waits,omitempty"`    // it waits for a process that has room to drive it
}

// Given are values of keys of the tree's root scope.
type Given map[string]json.RawMessage

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

// CompletionRecord is the receipt of an effect: Result is set if it succeeded, Err if it failed; with Err, Result is
// what had arrived.
type CompletionRecord struct {
	RequestedEffect
	Payload json.RawMessage `json:"payload"`
	Once    bool            `json:"once,omitempty"`
	Found   bool            `json:"found,omitempty"` // performed before a crash, found afterwards
	Now     int64           `json:"now"`
	TookMS  int64           `json:"took_ms,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Err     *bt.Fault       `json:"err,omitempty"`

	// Asked and Value are Payload and Result as their effect's type decodes them, where it can.
	Asked any `json:"-"`
	Value any `json:"-"`

	suspended bool  // it is no receipt: Err says why the run is suspended
	away      error // it is no receipt: the performer could not reach the journal
}

// EffectType has the Go types of payload and result of the effects of one kind; each receipt is decoded once.
type EffectType struct{ payload, result reflect.Type }

// EffectOf is the type of effects whose payload is a P and whose result is an R.
func EffectOf[P, R any]() EffectType { return EffectType{reflect.TypeFor[P](), reflect.TypeFor[R]()} }

// Types are the Go types of payload and result.
func (t EffectType) Types() (payload, result reflect.Type) { return t.payload, t.result }

// decode sets Asked, unless it is set, and Value of a receipt.
func (t EffectType) decode(c *CompletionRecord) {
	if c.Asked == nil {
		c.Asked = decodeAs(t.payload, c.Payload)
	}
	c.Value = decodeAs(t.result, c.Result)
}

// decodeAs decodes raw as a t; nil if it can't: whoever reads the record reports that.
func decodeAs(t reflect.Type, raw json.RawMessage) any {
	if t == nil || len(raw) == 0 {
		return nil
	}
	v := reflect.New(t)
	if json.Unmarshal(raw, v.Interface()) != nil {
		return nil
	}
	return v.Elem().Interface()
}

// TimeRecord carries the run time at which a timer acts, in ms.
type TimeRecord struct {
	Now int64 `json:"now"`
}

// CancelRecord is a request to stop.
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

// EndRecord is how a run ended. Reason and Outcome are the assistant's own.
type EndRecord struct {
	Status  journal.Status  `json:"status"`
	Reason  string          `json:"reason,omitempty"`
	Fault   *bt.Fault       `json:"fault,omitempty"`
	Now     int64           `json:"now"`
	Outcome json.RawMessage `json:"outcome,omitempty"`
}

// Receipts are the receipts in the records of a run, each once, by record number: completions, and the partial results
// of effects that were stopped or suspended. Unreadable ones are left out.
func Receipts(recs []journal.Record) iter.Seq2[int64, *CompletionRecord] {
	return func(yield func(int64, *CompletionRecord) bool) {
		bodies := make([]any, len(recs))
		for i, r := range recs {
			switch r.Kind {
			case KindCompletion, KindStopped, KindSuspend, KindCancel:
				if body, err := Read(r); err == nil {
					bodies[i] = body
				}
			}
		}
		for i, c := range receiptsAmong(bodies) {
			if !yield(recs[i].Seq, c) {
				return
			}
		}
	}
}

// receiptsAmong are the receipts in decoded records, each once, by the place of its record.
func receiptsAmong(bodies []any) iter.Seq2[int, *CompletionRecord] {
	return func(yield func(int, *CompletionRecord) bool) {
		for i, body := range bodies {
			_, isSuspend := body.(*SuspendRecord)
			for _, c := range receiptsIn(body) {
				if (!isSuspend || !isInStopped(c, bodies[i+1:])) && !yield(i, c) {
					return
				}
			}
		}
	}
}

func receiptsIn(body any) (all []*CompletionRecord) {
	switch body := body.(type) {
	case *CompletionRecord:
		all = append(all, body)
	case *StoppedRecord:
		for i := range body.Under {
			all = append(all, &body.Under[i])
		}
	case *SuspendRecord:
		if body.Under != nil {
			all = append(all, body.Under)
		}
	}
	return all
}

// isInStopped reports whether the result of a suspended effect is also in the stopped record, because the run was asked
// to stop just then.
func isInStopped(c *CompletionRecord, after []any) bool {
	for _, body := range after {
		switch body := body.(type) {
		case *CancelRecord:
		case *StoppedRecord:
			return slices.ContainsFunc(body.Under, func(other CompletionRecord) bool { return other.Op == c.Op })
		default:
			return false
		}
	}
	return false
}

// SumUsed adds up what used reads from receipts, by model.
func SumUsed[K any](
	receipts iter.Seq2[K, *CompletionRecord], used func(*CompletionRecord) (journal.Used, bool),
) []journal.Used {
	var all []journal.Used
	for _, c := range receipts {
		if u, ok := used(c); ok {
			u.Model = journal.Clean(u.Model)
			all = append(all, u)
		}
	}
	return journal.SumUsed(all...)
}

// Digest identifies the request of an effect.
func Digest(e bt.Effect) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%s", e.Leaf, e.Kind, e.Payload))
	return hex.EncodeToString(sum[:12])
}

// Marshal encodes as JSON, without escaping for HTML.
func Marshal(v any) (json.RawMessage, error) {
	b := &bytes.Buffer{}
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'}), err
}

// Read decodes a record, by its kind, as a pointer to one of the record types of this package. A record of another
// kind, or one that can't be read, is journal.ErrCorrupt; of one that has a field of another type, what is read of the
// others comes with the error.
func Read(r journal.Record) (any, error) {
	empty := bodies[r.Kind]
	if empty == nil {
		return nil, fmt.Errorf("%w: record %d is of the unknown kind %q", journal.ErrCorrupt, r.Seq, r.Kind)
	}
	body := empty()
	if err := json.Unmarshal(r.Data, body); err != nil {
		return body, fmt.Errorf("record %d (%s): %w: %w", r.Seq, r.Kind, journal.ErrCorrupt, err)
	}
	return body, nil
}

// bodies make an empty body for each kind of record.
var bodies = map[string]func() any{
	KindStart:      func() any { return &StartRecord{} },
	KindMark:       func() any { return &MarkRecord{} },
	KindCompletion: func() any { return &CompletionRecord{} },
	KindTime:       func() any { return &TimeRecord{} },
	KindCancel:     func() any { return &CancelRecord{} },
	KindStopped:    func() any { return &StoppedRecord{} },
	KindSuspend:    func() any { return &SuspendRecord{} },
	KindLeave:      func() any { return &LeaveRecord{} },
	KindResume:     func() any { return &ResumeRecord{} },
	KindTrace:      func() any { return &TraceRecord{} },
	KindEnd:        func() any { return &EndRecord{} },
}

// readAs is Read for a record whose kind is known to hold a T.
func readAs[T any](r journal.Record) (*T, error) {
	body, err := Read(r)
	if err != nil {
		return nil, err
	}
	return body.(*T), nil
}
