package stories

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"sibyl/internal/app"
	"sibyl/internal/journal"
	"sibyl/internal/run"
)

// longSession is a session of so many exchanges, one each so often, each as the last one was but for its number. They
// are written past the assistants, who would take long.
func (h *house) longSession(many int, every time.Duration) (session string) {
	h.Helper()
	h.sibyl("ask", "--in", h.dir+"/code", asksOfLease(many))
	h.database(func(store app.Database) error {
		last := must(store.Runs(h.Context(), "local", journal.Filter{}))[0]
		last = must(store.Run(h.Context(), last.Owner, last.ID))
		records := must(store.Records(h.Context(), last.Owner, last.ID, 0))
		var start run.StartRecord
		if err := json.Unmarshal(records[0].Data, &start); err != nil {
			return err
		}
		blobs := [][]byte{must(store.Blob(h.Context(), last.Owner, start.Tree))}
		for _, text := range start.Texts {
			blobs = append(blobs, must(store.Blob(h.Context(), last.Owner, text.Blob)))
		}
		session = last.Session[:len(last.Session)-4] + "long"
		for n := 1; n <= many; n++ { // one after the other, as the exchanges of a session begin
			if err := copied(h.TB, store, session, last, records, blobs, n, every*time.Duration(n-many)); err != nil {
				return err
			}
		}
		return store.DeleteSession(h.Context(), last.Owner, last.Session, journal.ByPerson, time.Now())
	})
	return session
}

// asksOfLease is what is asked in an exchange of a long session.
func asksOfLease(n int) string { return fmt.Sprintf("How is lease %d acquired?", n) }

// copied writes run n of a session as another one was, so much later.
func copied(
	t testing.TB, store journal.Store, session string, r journal.Run, records []journal.Record, blobs [][]byte, n int,
	later time.Duration,
) error {
	numbered := func(b []byte) []byte {
		b = bytes.ReplaceAll(b, []byte(r.Title), []byte(asksOfLease(n)))
		return bytes.ReplaceAll(b, []byte(r.Session), []byte(session))
	}
	end := journal.End{Status: r.Status, At: r.EndedAt.Add(later), Reason: r.Reason, Summary: numbered(r.Summary)}
	of := journal.Run{ID: fmt.Sprintf("%s%04d", r.ID[:len(r.ID)-4], n), Session: session, Owner: r.Owner,
		Assistant: r.Assistant, Title: asksOfLease(n), Status: journal.Running,
		StartedAt: r.StartedAt.Add(later), LeaseHolder: "story", LeaseUntil: time.Now().Add(5 * time.Second)}
	all := make([]journal.Record, len(records))
	for i, one := range records {
		all[i] = journal.Record{Seq: one.Seq, At: one.At.Add(later), Kind: one.Kind, Data: numbered(one.Data)}
	}
	b := journal.Beginning{Run: of, Blobs: blobs, Records: all[:1]}
	if n == 1 {
		b.Session = &journal.Session{ID: session, Owner: r.Owner, Assistant: r.Assistant, Title: r.Title,
			CreatedAt: of.StartedAt, UpdatedAt: of.StartedAt}
	}
	if err := store.Begin(t.Context(), b); err != nil {
		return err
	}
	return store.Append(t.Context(), of.Owner, of.ID, all[1:], &end)
}
