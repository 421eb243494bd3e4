package run

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"unicode/utf8"

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

// StartRecord is all that a run begins with. Tree and Texts name blobs.
type StartRecord struct {
	Assistant string          `json:"assistant"`
	Build     string          `json:"build"`
	TreeFile  string          `json:"tree_file"`
	Tree      string          `json:"tree"`
	Texts     []NamedBlob     `json:"texts,omitempty"`
	Given     Given           `json:"given"`
	Env       json.RawMessage `json:"env,omitempty"`
	Consumed  []string        `json:"consumed,omitempty"` // pending rows that it used up
	Waits     bool            `json:"waits,omitempty"`    // it was recorded for whoever has room to drive it
}

// Given are values of keys of the tree's root scope.
type Given map[string]json.RawMessage

// MarshalJSON encodes as encoding/json does, which takes long to look at a map.
func (g Given) MarshalJSON() ([]byte, error) {
	b := append(make([]byte, 0, 512), '{')
	for i, key := range g.keys() {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(appendText(b, key), ':'), g[key]...)
	}
	return append(b, '}'), nil
}

// keys are sorted.
func (g Given) keys() []string {
	keys := slices.AppendSeq(make([]string, 0, len(g)), maps.Keys(g))
	slices.Sort(keys)
	return keys
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
	TookMS  int64           `json:"took_ms,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Err     *bt.Fault       `json:"err,omitempty"`

	// Asked and Value are Payload and Result as their effect's type decodes them, where it can.
	Asked any `json:"-"`
	Value any `json:"-"`

	suspended bool  // it is no receipt: Err says why the run waits
	away      error // it is no receipt: the journal could not be reached, which says nothing of the effect
}

// appendJSON encodes the receipt as marshal does. Payload and Result are compact JSON already, and are not read again.
func (c *CompletionRecord) appendJSON(b []byte) ([]byte, error) {
	b = append(b, `{"op":`...)
	b = strconv.AppendUint(b, c.Op, 10)
	b = appendText(append(b, `,"leaf":`...), c.Leaf)
	b = appendText(append(b, `,"kind":`...), c.Kind)
	if c.Label != "" {
		b = appendText(append(b, `,"label":`...), c.Label)
	}
	b = appendText(append(b, `,"digest":`...), c.Digest)
	b = append(b, `,"payload":`...)
	if len(c.Payload) == 0 {
		b = append(b, "null"...)
	}
	b = append(b, c.Payload...)
	if c.Once {
		b = append(b, `,"once":true`...)
	}
	if c.Found {
		b = append(b, `,"found":true`...)
	}
	b = strconv.AppendInt(append(b, `,"now":`...), c.Now, 10)
	if c.TookMS != 0 {
		b = strconv.AppendInt(append(b, `,"took_ms":`...), c.TookMS, 10)
	}
	if len(c.Result) > 0 {
		b = append(append(b, `,"result":`...), c.Result...)
	}
	if c.Err != nil {
		var err error
		if b, err = appendTo(append(b, `,"err":`...), c.Err); err != nil {
			return nil, err
		}
	}
	return append(b, '}'), nil
}

// appendJSON encodes the end as marshal does. Outcome is compact JSON already, and is not read again.
func (r *EndRecord) appendJSON(b []byte) ([]byte, error) {
	b = appendText(append(b, `{"status":`...), string(r.Status))
	if r.Reason != "" {
		b = appendText(append(b, `,"reason":`...), r.Reason)
	}
	if r.Fault != nil {
		var err error
		if b, err = appendTo(append(b, `,"fault":`...), r.Fault); err != nil {
			return nil, err
		}
	}
	b = strconv.AppendInt(append(b, `,"now":`...), r.Now, 10)
	if len(r.Outcome) > 0 {
		b = append(append(b, `,"outcome":`...), r.Outcome...)
	}
	return append(b, '}'), nil
}

// appendText adds a text as JSON. Most need no escape.
func appendText(b []byte, text string) []byte {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c >= utf8.RuneSelf || c == '"' || c == '\\' {
			b, _ = appendTo(b, text) // a text always encodes
			return b
		}
	}
	return append(append(append(b, '"'), text...), '"')
}

// EffectType knows what effects of one kind are asked with, and what they give.
type EffectType struct {
	payload, result func(raw json.RawMessage, known any) any
	types           [2]reflect.Type
}

// EffectOf is the type of effects whose payload is a P and whose result is an R, so that both are decoded once a record.
func EffectOf[P, R any]() EffectType {
	return EffectType{decoded[P], decoded[R], [2]reflect.Type{reflect.TypeFor[P](), reflect.TypeFor[R]()}}
}

// Types are what the journal holds of such an effect: its payload, and its result.
func (t EffectType) Types() (payload, result reflect.Type) { return t.types[0], t.types[1] }

// Faithful is a result that knows whether reading its JSON gives it back, texts aside. It is not read then, where it was given, and is not
// to be changed any more.
type Faithful interface {
	Faithful(raw json.RawMessage) bool
}

// asRead is a result where reading its JSON would give it back; nil where that is to be read.
func asRead(result any, raw json.RawMessage) any {
	if f, ok := result.(Faithful); ok && f.Faithful(raw) && !bytes.Contains(raw, []byte(`\ufffd`)) { // which stands for what is no text
		return result
	}
	return nil
}

// decoded is raw as a T, which it need not be read for where it is known; nil where it is none, which whoever reads the record tells.
func decoded[T any](raw json.RawMessage, known any) any {
	if _, ok := known.(T); ok {
		return known
	}
	var v T
	if len(raw) == 0 || json.Unmarshal(raw, &v) != nil {
		return nil
	}
	return v
}

// decode fills in what a receipt holds.
func (t EffectType) decode(c *CompletionRecord) {
	if t.payload != nil {
		c.Asked, c.Value = t.payload(c.Payload, c.Asked), t.result(c.Result, c.Value)
	}
}

// asked is what an effect is asked with.
func (t EffectType) asked(e bt.Effect) any {
	if t.payload == nil {
		return nil
	}
	return t.payload(e.Payload, e.Asked)
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

// Digest names what an effect asks for.
func Digest(e bt.Effect) string {
	var room [512]byte // of most
	b := append(append(room[:0], e.Leaf...), 0)
	b = append(append(b, e.Kind...), 0)
	sum := sha256.Sum256(append(b, e.Payload...))
	return string(hex.AppendEncode(room[:0], sum[:12]))
}

// Read decodes a record, by its kind, as a pointer to one of the record types of this package. A record of another kind, or one that
// can't be read, is journal.ErrCorrupt; of one that has a field of another type, what is read of the others comes with the error.
func Read(r journal.Record) (any, error) {
	var body any
	switch r.Kind {
	case KindStart:
		body = &StartRecord{}
	case KindMark:
		body = &MarkRecord{}
	case KindCompletion:
		body = &CompletionRecord{}
	case KindTime:
		body = &TimeRecord{}
	case KindCancel:
		body = &CancelRecord{}
	case KindStopped:
		body = &StoppedRecord{}
	case KindSuspend:
		body = &SuspendRecord{}
	case KindLeave:
		body = &LeaveRecord{}
	case KindResume:
		body = &ResumeRecord{}
	case KindTrace:
		body = &TraceRecord{}
	case KindEnd:
		body = &EndRecord{}
	default:
		return nil, fmt.Errorf("%w: record %d is of the unknown kind %q", journal.ErrCorrupt, r.Seq, r.Kind)
	}
	if err := json.Unmarshal(r.Data, body); err != nil {
		return body, fmt.Errorf("record %d (%s): %w: %w", r.Seq, r.Kind, journal.ErrCorrupt, err)
	}
	return body, nil
}

// readAs is Read for a record whose kind is known to hold a T.
func readAs[T any](r journal.Record) (*T, error) {
	body, err := Read(r)
	if err != nil {
		return nil, err
	}
	return body.(*T), nil
}
