package run

import (
	"context"
	"fmt"
	"slices"

	"sibyl/internal/journal"
)

// What whoever reads a recorded run asks of the engine, of its assistant and of the view.

// Assistant gives an assistant by its name, nil if there is none.
func (e *Engine) Assistant(name string) *Assistant { return e.assistants[name] }

// Recorded is the view of a run that nobody needs to drive, as far as recs go. journal.ErrCorrupt if one of them can't
// be read.
func (a *Assistant) Recorded(store journal.Store, r journal.Run, recs []journal.Record) (*View, error) {
	v := &View{ID: r.ID, Session: r.Session, Owner: r.Owner, store: store}
	f := &Fold{a: a}
	for _, rec := range recs {
		body, err := f.read(rec)
		if err != nil {
			return nil, err
		}
		v.add(rec, body)
	}
	return v, nil
}

// End is the end record of an ending, but for its run time.
func (a *Assistant) End(v *View, e Ending) (EndRecord, error) {
	o, err := a.outcome(v, e)
	return EndRecord{Status: o.Status, Reason: o.Reason, Fault: e.Fault, Outcome: o.result}, err
}

// Sent is what Sends tells of a receipt.
func (a *Assistant) Sent(ctx context.Context, v *View, c *CompletionRecord) (recorded, composed Sent, err error) {
	if a.Sends == nil {
		return recorded, composed, nil
	}
	defer contain(a.Name, &err)
	return a.Sends(ctx, v, c)
}

// WithTexts is the view of the same run with other texts in place of its own; ErrUnfit if it keeps none of a name.
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
	changed := &View{ID: v.ID, Session: v.Session, Owner: v.Owner, store: lentBlobs{v.store, lent}, recs: v.Records(), bodies: slices.Clone(v.Bodies())}
	changed.bodies[0] = &start
	return changed, nil
}

// lentBlobs is a store with contents that are kept nowhere.
type lentBlobs struct {
	journal.Store
	lent map[string][]byte
}

func (l lentBlobs) Blob(ctx context.Context, owner journal.Owner, hash string) ([]byte, error) {
	if content, ok := l.lent[hash]; ok {
		return content, nil
	}
	return l.Store.Blob(ctx, owner, hash)
}
