package run

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"sibyl/internal/bt"
	"sibyl/internal/journal"
)

// Reader reads what is kept of a run, as journal.Store does.
type Reader interface {
	Run(ctx context.Context, owner journal.Owner, id string) (journal.Run, error)
	Records(ctx context.Context, owner journal.Owner, run string, from int64) ([]journal.Record, error)
	Blob(ctx context.Context, owner journal.Owner, hash string) ([]byte, error)
}

// History reads the runs of sessions and what waits in them, as journal.Store does.
type History interface {
	Reader
	Runs(ctx context.Context, owner journal.Owner, f journal.Filter) ([]journal.Run, error)
	Pending(ctx context.Context, owner journal.Owner, session string, now time.Time) ([]journal.Pending, error)
}

// View is what performers and outcomes may read of a run: its start, its receipts by record number, and the rows of
// earlier runs. It is safe for concurrent use.
type View struct {
	ID      string
	Session string
	Owner   journal.Owner

	store  Reader
	mu     sync.Mutex
	recs   []journal.Record
	bodies []any // of recs, as Read gives them; nil for traces
}

func (v *View) add(r journal.Record, body any) {
	v.mu.Lock()
	v.recs, v.bodies = append(v.recs, r), append(v.bodies, body)
	v.mu.Unlock()
}

// Records returns the records so far. Neither they nor their data must be changed.
func (v *View) Records() []journal.Record {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.recs[:len(v.recs):len(v.recs)]
}

// Bodies returns the decoded records. They must not be changed.
func (v *View) Bodies() []any {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.bodies[:len(v.bodies):len(v.bodies)]
}

// Start returns the start record; an empty one if the first record can't be read.
func (v *View) Start() *StartRecord {
	if all := v.Bodies(); len(all) > 0 {
		if s, ok := all[0].(*StartRecord); ok {
			return s
		}
	}
	return &StartRecord{}
}

// Receipt returns the completion with that record number. All readers share it: it must not be changed.
func (v *View) Receipt(seq int64) (*CompletionRecord, error) {
	if all := v.Bodies(); seq >= 0 && seq < int64(len(all)) {
		if c, ok := all[seq].(*CompletionRecord); ok {
			return c, nil
		}
	}
	return nil, fmt.Errorf("run %s has no completion at record %d", v.ID, seq)
}

// Receipts returns all completions with their record numbers, in order.
func (v *View) Receipts() iter.Seq2[int64, *CompletionRecord] {
	return func(yield func(int64, *CompletionRecord) bool) {
		for seq, body := range v.Bodies() {
			if c, ok := body.(*CompletionRecord); ok && !yield(int64(seq), c) {
				return
			}
		}
	}
}

// ResultAt returns the result of the completion with that record number as a T; an error if the effect failed.
func ResultAt[T any](v *View, seq int64) (result T, err error) {
	c, err := v.Receipt(seq)
	if err != nil {
		return result, err
	}
	if c.Err != nil {
		return result, fmt.Errorf("record %d: %w", seq, c.Err)
	}
	return bt.ResultOf[T](bt.Completion{Op: c.Op, Result: c.Result, Value: c.Value})
}

// PayloadOf returns the payload of a job. It is shared with the receipt, and must not be changed.
func PayloadOf[P any](j Job) (p P, err error) {
	if p, ok := j.Asked.(P); ok {
		return p, nil
	}
	err = json.Unmarshal(j.Effect.Payload, &p)
	return p, err
}

// ReadStart decodes what the run began with: its Env, and its inputs as Given does. An error of one leaves the other.
func (v *View) ReadStart(env, given any) error {
	err := json.Unmarshal(v.Start().Env, env)
	if err != nil {
		err = fmt.Errorf("environment of the run: %w", err)
	}
	return errors.Join(err, v.Given(given))
}

// Given decodes the run's inputs into the struct of its tree's inputs.
func (v *View) Given(into any) error {
	if err := bt.DecodePorts(v.Start().Given, into); err != nil {
		return fmt.Errorf("run %s: %w", v.ID, err)
	}
	return nil
}

// Blob returns the hash of a text that the run began with; "" if it has none of that name.
func (v *View) Blob(name string) string {
	for _, t := range v.Start().Texts {
		if t.Name == name {
			return t.Blob
		}
	}
	return ""
}

// Text returns a text that the run began with.
func (v *View) Text(ctx context.Context, name string) (text []byte, err error) {
	blob := v.Blob(name)
	if blob == "" {
		return nil, fmt.Errorf("run %s keeps no text %s", v.ID, name)
	}
	err = retryAway(ctx, realClock{}, usualPatience, func() (err error) {
		text, err = v.store.Blob(ctx, v.Owner, blob)
		return err
	})
	return text, err
}

// ReadText returns a text that a run of an owner began with; nil if it keeps none of that name.
func ReadText(ctx context.Context, store Reader, owner journal.Owner, id, name string) ([]byte, error) {
	recs, err := store.Records(ctx, owner, id, 0)
	if err != nil {
		return nil, err
	}
	start, err := StartOf(recs)
	if err != nil {
		return nil, err
	}
	v := &View{ID: id, Owner: owner, store: store, bodies: []any{start}}
	if v.Blob(name) == "" {
		return nil, nil
	}
	return v.Text(ctx, name)
}

// ReadStart decodes what a run of an owner began with: its Env, and its inputs as View.Given does.
func ReadStart(ctx context.Context, store Reader, owner journal.Owner, id string, env, given any) error {
	recs, err := store.Records(ctx, owner, id, 0)
	if err != nil {
		return err
	}
	start, err := StartOf(recs)
	if err != nil {
		return err
	}
	return (&View{ID: id, Owner: owner, bodies: []any{start}}).ReadStart(env, given)
}

// Earlier returns the row of another run of the same owner, with its summary.
func (v *View) Earlier(ctx context.Context, id string) (r journal.Run, err error) {
	err = retryAway(ctx, realClock{}, usualPatience, func() (err error) {
		r, err = v.store.Run(ctx, v.Owner, id)
		return err
	})
	return r, err
}

// ReadEnd returns the end record of a run; journal.ErrNotFound if it has not ended.
func ReadEnd(ctx context.Context, store Reader, owner journal.Owner, id string) (EndRecord, error) {
	r, err := store.Run(ctx, owner, id)
	if err != nil {
		return EndRecord{}, err
	}
	if r.Status == journal.Running || r.Records == 0 {
		return EndRecord{}, fmt.Errorf("end of run %s: %w", id, journal.ErrNotFound)
	}
	last, err := store.Records(ctx, owner, id, r.Records-1)
	if err != nil {
		return EndRecord{}, err
	}
	body, err := Read(last[0])
	if end, ok := body.(*EndRecord); ok && err == nil {
		return *end, nil
	}
	return EndRecord{}, fmt.Errorf("run %s has no end as its last record: %w", id, cmp.Or(err, journal.ErrCorrupt))
}

// Recorded returns the view of a run that recs hold, for readers who do not drive it; journal.ErrCorrupt if one of them
// can't be read.
func (a *Assistant) Recorded(store Reader, r journal.Run, recs []journal.Record) (*View, error) {
	v := &View{ID: r.ID, Session: r.Session, Owner: r.Owner, store: store}
	for _, rec := range recs {
		body, err := a.read(rec)
		if err != nil {
			return nil, err
		}
		v.add(rec, body)
	}
	return v, nil
}

// End makes the end record of an ending, without its run time.
func (a *Assistant) End(v *View, e Ending) (EndRecord, error) {
	o, err := a.encodeOutcome(v, e)
	return EndRecord{Status: o.Status, Reason: o.Reason, Fault: e.Fault, Outcome: o.result}, err
}

// Sent calls Sends for a receipt.
func (a *Assistant) Sent(ctx context.Context, v *View, c *CompletionRecord) (recorded, composed Sent, err error) {
	if a.Sends == nil {
		return recorded, composed, nil
	}
	defer contain(a.Name, &err)
	return a.Sends(ctx, v, c)
}

// WithTexts returns a view of the same run with some texts replaced; ErrUnfit if it has no text of such a name.
func (v *View) WithTexts(texts []Text) (*View, error) {
	start := *v.Start()
	start.Texts = slices.Clone(start.Texts)
	lent := map[string][]byte{}
	for _, t := range texts {
		i := slices.IndexFunc(start.Texts, func(own NamedBlob) bool { return own.Name == t.Name })
		if i < 0 {
			return nil, fmt.Errorf("%w: run %s keeps no text %s that could be changed", ErrUnfit, v.ID, t.Name)
		}
		start.Texts[i].Blob = journal.BlobHash(t.Content)
		lent[start.Texts[i].Blob] = t.Content
	}
	changed := &View{ID: v.ID, Session: v.Session, Owner: v.Owner, store: overlaidBlobs{v.store, lent}, recs: v.Records(),
		bodies: slices.Clone(v.Bodies())}
	changed.bodies[0] = &start
	return changed, nil
}

// overlaidBlobs is a Reader with some contents that are only in memory.
type overlaidBlobs struct {
	Reader
	lent map[string][]byte
}

func (l overlaidBlobs) Blob(ctx context.Context, owner journal.Owner, hash string) ([]byte, error) {
	if content, ok := l.lent[hash]; ok {
		return content, nil
	}
	return l.Reader.Blob(ctx, owner, hash)
}

// treeKey names a loaded tree.
type treeKey struct{ assistant, file, text string }

// keptTrees is how many loaded trees are kept: runs begin with the same few.
const keptTrees = 32

// readRunAndTree reads the records of a run and loads its tree. If this build can't load the tree, the error is
// ErrIncompatible, and the records come with it.
func (e *Engine) readRunAndTree(
	ctx context.Context, owner journal.Owner, id string,
) (recs []journal.Record, a *Assistant, tree *bt.Tree, err error) {
	recs, err = e.Store.Records(ctx, owner, id, 0)
	if err == nil {
		if a, tree, err = e.treeOf(ctx, owner, recs); err != nil {
			err = e.explainFoldError(id, recs, err)
		}
	}
	return recs, a, tree, err
}

// treeOf loads the tree that a run began with.
func (e *Engine) treeOf(ctx context.Context, owner journal.Owner, recs []journal.Record) (*Assistant, *bt.Tree, error) {
	start, err := StartOf(recs)
	if err != nil {
		return nil, nil, err
	}
	a := e.assistants[start.Assistant]
	if a == nil {
		return nil, nil, fmt.Errorf("%w: %q", errNoAssistant, start.Assistant)
	}
	text, err := e.Store.Blob(ctx, owner, start.Tree)
	if err != nil {
		return a, nil, err
	}
	tree, err := e.loadTree(a, start.TreeFile, text)
	return a, tree, err
}

// StartOf reads the first of a run's records; journal.ErrCorrupt if that is no start.
func StartOf(recs []journal.Record) (*StartRecord, error) {
	if len(recs) == 0 || recs[0].Kind != KindStart {
		return nil, fmt.Errorf("%w: the first record is not a start", journal.ErrCorrupt)
	}
	return readAs[StartRecord](recs[0])
}

// CheckTree returns what is wrong with a tree for an assistant. A tree that loads is kept for runs that begin with it.
func (e *Engine) CheckTree(a *Assistant, file string, text []byte) error {
	_, err := e.loadTree(a, file, text)
	return err
}

func (e *Engine) loadTree(a *Assistant, file string, text []byte) (*bt.Tree, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if t := e.trees[treeKey{a.Name, file, string(text)}]; t != nil {
		return t, nil
	}
	t, err := a.Leaves.Load(file, text, a.Options)
	if err != nil {
		return nil, err
	}
	if len(e.trees) >= keptTrees {
		clear(e.trees)
	}
	e.trees[treeKey{a.Name, file, string(text)}] = t
	return t, nil
}
