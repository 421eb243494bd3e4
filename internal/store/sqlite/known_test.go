package sqlite

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"sibyl/internal/journal"
)

// Numbers of runs and blobs are used again when their rows are removed.
func TestWriterForgetsWhatAnotherHasChanged(t *testing.T) {
	path := newPath(t)
	here, there := openAt(t, path, unsynced), openAt(t, path, unsynced)
	begin(t, here, 1, []byte("tree"))
	if err := there.DeleteSession(t.Context(), "ada", "session", journal.ByPerson, instant(0)); err != nil {
		t.Fatal(err)
	}
	other := beginning(journal.Session{ID: "other", Owner: "ada"})
	other.Blobs, other.Records = [][]byte{[]byte("another tree")}, []journal.Record{{}}
	if err := there.Begin(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	if err := here.Append(t.Context(), "ada", "run", []journal.Record{{Seq: 1}}, nil); !errors.Is(err, journal.ErrNotFound) {
		t.Errorf("append to the run that is removed: %v, want ErrNotFound", err)
	}
	third := beginning(journal.Session{ID: "third", Owner: "ada"})
	third.Blobs, third.Records = [][]byte{[]byte("tree")}, []journal.Record{{}}
	if err := here.Begin(t.Context(), third); err != nil {
		t.Fatal(err)
	}
	if got, err := here.Blob(t.Context(), "ada", journal.BlobHash([]byte("tree"))); err != nil || string(got) != "tree" {
		t.Errorf("the blob is %q, error %v", got, err)
	}
	end := &journal.End{Status: journal.Cancelled}
	if err := there.Append(t.Context(), "ada", third.Run.ID, []journal.Record{{Seq: 1}}, end); err != nil {
		t.Fatal(err)
	}
	if err := here.Append(t.Context(), "ada", third.Run.ID, []journal.Record{{Seq: 1}}, nil); !errors.Is(err, journal.ErrEnded) {
		t.Errorf("append to the run that has ended: %v, want ErrEnded", err)
	}
}

func TestWriterForgetsWhatIsNotThere(t *testing.T) {
	db := openAt(t, newPath(t), unsynced)
	blob := []byte("tree")
	failing, good := beginning(journal.Session{ID: "failing", Owner: "ada"}), beginning(journal.Session{ID: "good", Owner: "ada"})
	failing.Blobs, failing.Consume, good.Blobs = [][]byte{blob}, []string{"unknown"}, [][]byte{blob}
	check := func(after string, blob []byte) {
		t.Helper()
		if got, err := db.Blob(t.Context(), "ada", journal.BlobHash(blob)); err != nil || !bytes.Equal(got, blob) {
			t.Errorf("after %s the blob is %q, error %v", after, got, err)
		}
	}
	errs := together(t, db, func(ctx context.Context) error { return db.Begin(ctx, failing) }, func(ctx context.Context) error { return db.Begin(ctx, good) })
	if !errors.Is(errs[0], journal.ErrConsumed) || errs[1] != nil {
		t.Fatal(errs)
	}
	check("a beginning that failed beside it", blob)
	if err := db.DeleteSession(t.Context(), "ada", "good", journal.ByPerson, instant(0)); err != nil {
		t.Fatal(err)
	}
	if err := db.Append(t.Context(), "ada", good.Run.ID, []journal.Record{{}}, nil); !errors.Is(err, journal.ErrNotFound) {
		t.Errorf("append to the run that is removed: %v, want ErrNotFound", err)
	}
	second := []byte("second tree")
	failing.Blobs = [][]byte{second}
	if err := db.Begin(t.Context(), failing); !errors.Is(err, journal.ErrConsumed) {
		t.Fatal(err)
	}
	begin(t, db, 1, blob, second)
	check("the removal of the session that had it", blob)
	check("a beginning that failed alone", second)
	twice := &journal.End{Status: journal.NeedsUser, Pending: []journal.Pending{{ID: "p"}}}
	other := beginning(journal.Session{ID: "session", Owner: "ada"})
	other.Session, other.Run.ID = nil, "other"
	err := errors.Join(db.Begin(t.Context(), other),
		db.Append(t.Context(), "ada", "run", []journal.Record{{Seq: 1}}, twice))
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Append(t.Context(), "ada", "other", []journal.Record{{}}, twice); !errors.Is(err, journal.ErrExists) {
		t.Fatal(err)
	}
	if err := db.Append(t.Context(), "ada", "other", []journal.Record{{}}, nil); err != nil {
		t.Errorf("append after an end that failed: %v", err)
	}
}
